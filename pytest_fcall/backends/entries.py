"""What is set for a model: its entry in pyproject.toml, and the query behind its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pytest_fcall.backends.options import Option
from pytest_fcall.backends.project import FILE, project_tables
from pytest_fcall.core import Json, Model, ModelUnavailable

TABLE = "tool.fcall.models"
Tables = Mapping[str, Mapping[str, Json]]


class BadSettings(ModelUnavailable, ValueError):
    """A model's settings cannot be read. The text names the place, the key, and what is wanted; never a value."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A model as it is to be asked."""

    name: str
    """The provider's name of it, where the model itself may go by an alias."""
    settings: Mapping[str, Json]


def read_entry(model: Model, root: Path, known: Mapping[str, Option]) -> Entry:
    """Gather what is set for `model`: by its query, else by its entry, else by that of the model behind an alias.

    Raises BadSettings for a key that is not in `known`, and for a value that it cannot have.
    """
    tables = _tables(root)
    name, chain = _chain(model, tables)
    settings: dict[str, Json] = {}
    for key in chain:
        settings |= _checked(key, tables[key], known)
    settings |= _queried(model, known)
    return Entry(name, settings)


def aliased(alias: str, root: Path) -> Model | None:
    """The model that goes by `alias`, if an entry says so: of the kind that the entry names, and under the alias."""
    target = _tables(root).get(alias, {}).get("model")
    return None if target is None else Model(_target(alias, target).kind, alias)


def aliases(root: Path) -> list[str]:
    """The names that the project gives to models of its own."""
    return [name for name, entry in _tables(root).items() if "model" in entry]


def _chain(model: Model, tables: Tables) -> tuple[str, list[str]]:
    """The provider's name of `model`, and the entries that hold for it, the most general one first."""
    target = tables.get(model.name, {}).get("model")
    if target is None:
        return model.name, [model.id] if model.id in tables else []
    behind = _target(model.name, target)
    if behind.kind != model.kind:
        raise BadSettings(
            f"{FILE}, {_at(model.name)}: `model` is of kind {behind.kind!r}, and was asked for as {model.id}"
        )
    return behind.name, [behind.id, model.name] if behind.id in tables else [model.name]


def _target(alias: str, target: Json) -> Model:
    kind, _, name = target.partition(":") if isinstance(target, str) else ("", "", "")
    if not (kind.isidentifier() and name) or ":" in alias:
        example = "KIND:NAME, such as openai:gpt-5.2, in an entry that goes by another name"
        raise BadSettings(f"{FILE}, {_at(alias)}: `model` must be {example}")
    return Model(kind, name)


def _tables(root: Path) -> Tables:
    """All entries by name."""
    try:
        return cast("Tables", project_tables(root, "models"))
    except ValueError as error:
        raise BadSettings(str(error)) from None


def _checked(entry: str, table: Mapping[str, Json], known: Mapping[str, Option]) -> Iterator[tuple[str, Json]]:
    for name, value in table.items():
        if name == "model":
            continue
        try:
            yield name, _option(name, known).checked(value)
        except ValueError as error:
            dotted = name not in known and isinstance(value, Mapping)
            hint = f"; a name with dots needs quotes: {_at(f'{entry}.{name}')}" if dotted else ""
            raise BadSettings(f"{FILE}, {_at(entry)}: `{name}` {error}{hint}") from None


def _queried(model: Model, known: Mapping[str, Option]) -> Iterator[tuple[str, Json]]:
    for name, text in model.options.items():
        try:
            yield name, _option(name, known).from_text(text)
        except ValueError as error:
            raise BadSettings(f"{model.id}, behind the question mark: `{name}` {error}") from None


def _option(name: str, known: Mapping[str, Option]) -> Option:
    if name in known:
        return known[name]
    if name == "api_key" and "api_key_env" in known:
        raise ValueError("is never written down: name the variable that holds the key, by `api_key_env`")
    raise ValueError(f"is unknown; known are {', '.join(known)}")


def _at(entry: str) -> str:
    return f'[{TABLE}."{entry}"]'

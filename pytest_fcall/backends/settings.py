"""The settings of a model: their types, `[tool.fcall]` in pyproject.toml, and the query behind the model's name."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pytest_fcall.core import Json, Model, ModelUnavailable

PYPROJECT = "pyproject.toml"


def project_tables(root: Path, name: str) -> dict[str, Mapping[str, object]]:
    """The tables `[tool.fcall.NAME.KEY]` by their keys; none where the project has no such file or no such tables.

    Raises ValueError, with a line that names file and key, for what cannot be read.
    """
    found = _read_pyproject(root / PYPROJECT)
    path = ""
    for part in ("tool", "fcall", name):
        path = f"{path}.{part}" if path else part
        found = _as_table(found.get(part, {}), path)
    return {key: _as_table(value, f'{path}."{key}"') for key, value in found.items()}


def _read_pyproject(file: Path) -> Mapping[str, object]:
    import tomllib

    try:
        with file.open("rb") as opened:
            return tomllib.load(opened)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{PYPROJECT} cannot be read: {error}") from None


def _as_table(value: object, path: str) -> Mapping[str, object]:
    if isinstance(value, Mapping):
        return value
    raise ValueError(f"{PYPROJECT}: [{path}] must be a table")


Check = Callable[[Json], bool]

_HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that may be set. `wanted` says in words what `check` takes."""

    wanted: str
    check: Check
    read: Callable[[str], Json] = str
    """Reads the text of a query. Raises ValueError for a text that says no such value."""
    shapes: bool = True
    """Whether the answer depends on it. What only leads to the server is no part of a request."""

    def from_text(self, text: str) -> Json:
        """Read and check a text. Raises ValueError with what is wanted."""
        try:
            value = self.read(text)
        except (ValueError, RecursionError):
            value = None
        return self.checked(value)

    def checked(self, value: Json) -> Json:
        """Return `value`, if it may be set. Raises ValueError with what is wanted."""
        if not self.check(value):
            raise ValueError(f"must be {self.wanted}")
        return value


def text_option(wanted: str = "a text", *, shapes: bool = True) -> Option:
    """A text that is not empty."""
    return Option(wanted, lambda value: isinstance(value, str) and bool(value.strip()), shapes=shapes)


def choice_option(*words: str) -> Option:
    """One of these words."""
    return Option(f"one of {', '.join(words)}", lambda value: value in words)


def number_option(
    wanted: str = "a number", least: float = -math.inf, *, above: bool = False, shapes: bool = True
) -> Option:
    """A finite number from `least` on, or with `above` beyond it."""

    def check(value: Json) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return False
        return value > least if above else value >= least

    return Option(wanted, check, _parsed_number, shapes)


def integer_option(wanted: str = "an integer", least: int | None = None) -> Option:
    """An integer from `least` on."""

    def check(value: Json) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least)

    return Option(wanted, check, int)


def flag_option() -> Option:
    """True or false."""
    return Option("true or false", lambda value: isinstance(value, bool), _parsed_json)


def table_option(wanted: str, *, of_texts: bool = False, shapes: bool = True) -> Option:
    """Named values; in a query, JSON."""

    def check(value: Json) -> bool:
        if not isinstance(value, Mapping):
            return False
        return _is_json(value) and (not of_texts or all(_is_header(*item) for item in value.items()))

    return Option(wanted, check, _parsed_json, shapes)


def either_option(words: Option, other: Option) -> Option:
    """A word, or something that JSON says."""
    return Option(
        f"{words.wanted}, or {other.wanted}",
        lambda value: words.check(value) or other.check(value),
        lambda written: _parsed_json(written) if written.startswith("{") else written,
    )


def _parsed_number(written: str) -> Json:
    return int(written) if written.lstrip("+-").isdecimal() else float(written)


def _parsed_json(written: str) -> Json:
    return cast("Json", json.loads(written))


def _is_json(value: object) -> bool:
    """TOML has dates and times, and JSON has no NaN."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _is_header(name: object, value: object) -> bool:
    """Whether it can stand in a request's head, in one line of its own."""
    if not (isinstance(name, str) and isinstance(value, str)):
        return False
    return _HEADER.fullmatch(name) is not None and value.isascii() and value.isprintable()


TABLE = "tool.fcall.models"
Tables = Mapping[str, Mapping[str, Json]]


class SettingsError(ModelUnavailable, ValueError):
    """A model's settings cannot be read. The text names the place, the key, and what is wanted; never a value."""


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model as it is to be asked."""

    name: str
    """The provider's name of it, where the model itself may go by an alias."""
    settings: Mapping[str, Json]


def read_entry(model: Model, root: Path, known: Mapping[str, Option]) -> ModelEntry:
    """Gather what is set for `model`: by its query, else by its entry, else by that of the model behind an alias.

    Raises BadSettings for a key that is not in `known`, and for a value that it cannot have.
    """
    tables = _tables(root)
    name, chain = _entry_chain(model, tables)
    settings: dict[str, Json] = {}
    for key in chain:
        settings |= _checked(key, tables[key], known)
    settings |= _queried(model, known)
    return ModelEntry(name, settings)


def model_of_alias(alias: str, root: Path) -> Model | None:
    """The model that goes by `alias`, if an entry says so: of the kind that the entry names, and under the alias."""
    target = _tables(root).get(alias, {}).get("model")
    return None if target is None else Model(_target(alias, target).kind, alias)


def aliases(root: Path) -> list[str]:
    """The names that the project gives to models of its own."""
    return [name for name, entry in _tables(root).items() if "model" in entry]


def _entry_chain(model: Model, tables: Tables) -> tuple[str, list[str]]:
    """The provider's name of `model`, and the entries that hold for it, the most general one first."""
    target = tables.get(model.name, {}).get("model")
    if target is None:
        return model.name, [model.id] if model.id in tables else []
    behind = _target(model.name, target)
    if behind.kind != model.kind:
        raise SettingsError(
            f"{PYPROJECT}, {_table_name(model.name)}: `model` is of kind {behind.kind!r}, and was asked for as "
            f"{model.id}"
        )
    return behind.name, [behind.id, model.name] if behind.id in tables else [model.name]


def _target(alias: str, target: Json) -> Model:
    kind, _, name = target.partition(":") if isinstance(target, str) else ("", "", "")
    if not (kind.isidentifier() and name) or ":" in alias:
        example = "KIND:NAME, such as openai:gpt-5.2, in an entry that goes by another name"
        raise SettingsError(f"{PYPROJECT}, {_table_name(alias)}: `model` must be {example}")
    return Model(kind, name)


def _tables(root: Path) -> Tables:
    """All entries by name."""
    try:
        return cast("Tables", project_tables(root, "models"))
    except ValueError as error:
        raise SettingsError(str(error)) from None


def _checked(entry: str, table: Mapping[str, Json], known: Mapping[str, Option]) -> Iterator[tuple[str, Json]]:
    for name, value in table.items():
        if name == "model":
            continue
        try:
            yield name, _known_option(name, known).checked(value)
        except ValueError as error:
            dotted = name not in known and isinstance(value, Mapping)
            hint = f"; a name with dots needs quotes: {_table_name(f'{entry}.{name}')}" if dotted else ""
            raise SettingsError(f"{PYPROJECT}, {_table_name(entry)}: `{name}` {error}{hint}") from None


def _queried(model: Model, known: Mapping[str, Option]) -> Iterator[tuple[str, Json]]:
    for name, text in model.options.items():
        try:
            yield name, _known_option(name, known).from_text(text)
        except ValueError as error:
            raise SettingsError(f"{model.id}, behind the question mark: `{name}` {error}") from None


def _known_option(name: str, known: Mapping[str, Option]) -> Option:
    if name in known:
        return known[name]
    if name == "api_key" and "api_key_env" in known:
        raise ValueError("is never written down: name the variable that holds the key, by `api_key_env`")
    raise ValueError(f"is unknown; known are {', '.join(known)}")


def _table_name(entry: str) -> str:
    return f'[{TABLE}."{entry}"]'

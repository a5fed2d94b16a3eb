"""The settings of a model: their types, `[tool.fcall]` in pyproject.toml, and the query after the model's name."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeGuard, cast

from pytest_fcall.core.backend import Model, ModelUnavailable
from pytest_fcall.core.files import read_regular
from pytest_fcall.core.json_data import read_json
from pytest_fcall.core.message_text import clauses, did_you_mean
from pytest_fcall.core.values import Json, is_strings

PYPROJECT = "pyproject.toml"
TABLE = "tool.fcall.models"
_TABLES = ("models", "prices")
"""All tables under `[tool.fcall]`."""

Tables = Mapping[str, Mapping[str, Json]]

_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)


class SettingsError(ModelUnavailable, ValueError):
    """A model's settings are wrong. The message names the place, the key and what is expected, never a value."""


class ModelEntry(NamedTuple):
    """A model and its settings."""

    name: str
    """The provider's name of the model, also where the model itself goes by an alias."""
    settings: Mapping[str, Json]
    reply_settings: Mapping[str, Json]
    """Those of the settings that the reply depends on."""


class Option(NamedTuple):
    """One setting. `expected` describes the values that `is_valid` accepts."""

    expected: str
    is_valid: Callable[[Json], bool]
    parse: Callable[[str], Json] = str
    """Turns the text of a query into a value. Raises ValueError for a text that is no such value."""
    affects_reply: bool = True
    """Whether the reply depends on it. An option that only leads to the server is not part of a request."""

    def parse_checked(self, text: str) -> Json:
        """Parse and check a text. Raises ValueError with what is expected."""
        try:
            value = self.parse(text)
        except (ValueError, RecursionError):
            value = None
        return self.checked(value)

    def checked(self, value: Json) -> Json:
        """Return `value` if it is valid. Raises ValueError with what is expected."""
        if not self.is_valid(value):
            raise ValueError(f"must be {self.expected}")
        return value


def text_option(expected: str = "a non-empty string", *, affects_reply: bool = True) -> Option:
    """A text that is not blank."""
    return Option(expected, lambda value: isinstance(value, str) and bool(value.strip()), affects_reply=affects_reply)


def choice_option(*words: str) -> Option:
    """One of these words."""
    return Option(f"one of {', '.join(words)}", lambda value: value in words)


def number_option(expected: str = "a number", least: float = -math.inf) -> Option:
    """A finite number, `least` or greater."""
    return Option(expected, lambda value: _is_finite(value) and value >= least, _parse_number)


def positive_option(expected: str = "a positive number", *, affects_reply: bool = True) -> Option:
    """A finite number above 0."""
    return Option(expected, lambda value: _is_finite(value) and value > 0, _parse_number, affects_reply)


def seconds_option() -> Option:
    """A time limit, on which no reply depends."""
    return positive_option("a positive number of seconds", affects_reply=False)


def integer_option(expected: str = "an integer", least: int | None = None) -> Option:
    """An integer, `least` or greater."""

    def is_valid(value: Json) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least)

    return Option(expected, is_valid, int)


def flag_option(*, affects_reply: bool = True) -> Option:
    """True or false."""
    return Option("true or false", lambda value: isinstance(value, bool), _parse_json, affects_reply)


def table_option(expected: str = "a mapping of JSON values") -> Option:
    """A mapping of JSON values; in a query, JSON."""
    return Option(expected, lambda value: isinstance(value, Mapping) and _is_json(value), _parse_json)


def ascii_lines_option() -> Option:
    """A mapping of names to values, each of which can be one line of an HTTP header; no reply depends on it."""

    def is_valid(value: Json) -> bool:
        return isinstance(value, Mapping) and all(is_header(*item) for item in value.items())

    return Option("a mapping of ASCII names to one-line ASCII strings", is_valid, _parse_json, affects_reply=False)


def volatile_option() -> Option:
    """Patterns of what is no part of the keys of requests. `session.ask.volatile` reads them where keys are made."""

    def refuse(text: str) -> Json:
        raise ValueError(text)

    return Option("a list of regular expressions in pyproject.toml", is_strings, refuse, affects_reply=False)


def either_option(word: Option, other: Option) -> Option:
    """A word, or a value written as JSON."""
    return Option(
        f"{word.expected}, or {other.expected}",
        lambda value: word.is_valid(value) or other.is_valid(value),
        lambda text: _parse_json(text) if text.startswith("{") else text,
    )


def _is_finite(value: Json) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _parse_number(text: str) -> Json:
    return int(text) if text.lstrip("+-").isdecimal() else float(text)


def _parse_json(text: str) -> Json:
    return read_json(text)


def _is_json(value: object) -> bool:
    """False for the dates and times of TOML, and for NaN."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def is_header(name: object, value: object) -> bool:
    """Whether these are the name and the value of an HTTP header, in one line."""
    if not (isinstance(name, str) and isinstance(value, str)):
        return False
    return _HEADER_NAME.fullmatch(name) is not None and value.isascii() and value.isprintable()


def read_entry(model: Model, root: Path, options: Mapping[str, Option]) -> ModelEntry:
    """Read the settings of `model`: from its query, else from its entry, else from that of the model behind an alias.

    Raises SettingsError for a key that is not in `options`, and for an invalid value.
    """
    tables = _model_tables(root)
    name, chain = _entry_chain(model, tables)
    settings: dict[str, Json] = {}
    for key in chain:
        settings |= _entry_settings(key, tables[key], options)
    settings |= _query_settings(model, options)
    affecting = {name: value for name, value in settings.items() if options[name].affects_reply}
    return ModelEntry(name, settings, affecting)


def model_of_alias(alias: str, root: Path) -> Model | None:
    """The model of an alias: the kind that its entry names, with the alias as its name. None without an entry."""
    target = _model_tables(root).get(alias, {}).get("model")
    return None if target is None else Model(_target(alias, target).kind, alias)


def aliases(root: Path) -> list[str]:
    """The aliases that the project defines."""
    return [name for name, entry in _model_tables(root).items() if "model" in entry]


def project_tables(root: Path, name: str) -> dict[str, Mapping[str, object]]:
    """The tables `[tool.fcall.NAME.KEY]` by their keys; none where there is no pyproject.toml or no such table.

    Raises ValueError, with a line that names file and key, for what cannot be read, and for a table that nobody reads.
    """
    tool = _as_table(_read_pyproject(root / PYPROJECT).get("tool", {}), "tool")
    tables = _as_table(tool.get("fcall", {}), "tool.fcall")
    _check_tables(tables)
    path = f"tool.fcall.{name}"
    return {key: _as_table(value, f'{path}."{key}"') for key, value in _as_table(tables.get(name, {}), path).items()}


def _check_tables(tables: Mapping[str, object]) -> None:
    """Raise ValueError for what stands beside the tables under `[tool.fcall]`."""
    for name in tables.keys() - {*_TABLES}:
        if not isinstance(tables[name], Mapping) and name.startswith("fc_"):
            raise ValueError(f"{PYPROJECT}, [tool.fcall]: `{name}` belongs under [tool.pytest.ini_options]")
        fault = f"{PYPROJECT}: there is no table [tool.fcall.{name}]; available: {', '.join(_TABLES)}"
        raise ValueError(clauses(fault, did_you_mean(name, _TABLES)))


def _entry_chain(model: Model, tables: Tables) -> tuple[str, list[str]]:
    """The provider's name of `model`, and the keys of the entries that apply to it, the most general one first."""
    target = tables.get(model.name, {}).get("model")
    if target is None:
        return model.name, [model.id] if model.id in tables else []
    behind = _target(model.name, target)
    if behind.kind != model.kind:
        raise SettingsError(
            f"{PYPROJECT}, {_table_name(model.name)}: `model` is {behind.id}, but the model was given as {model.id}"
        )
    return behind.name, [behind.id, model.name] if behind.id in tables else [model.name]


def _target(alias: str, target: Json) -> Model:
    kind, _, name = target.partition(":") if isinstance(target, str) else ("", "", "")
    if not (kind.isidentifier() and name) or ":" in alias:
        example = "KIND:NAME, such as openai:gpt-5.2, in an entry whose own name has no colon"
        raise SettingsError(f"{PYPROJECT}, {_table_name(alias)}: `model` must be {example}")
    return Model(kind, name)


def _model_tables(root: Path) -> Tables:
    try:
        return cast("Tables", project_tables(root, "models"))  # values are checked where an entry is read
    except ValueError as error:
        raise SettingsError(str(error)) from None


def _entry_settings(entry: str, table: Mapping[str, Json], options: Mapping[str, Option]) -> Iterator[tuple[str, Json]]:
    for name, value in table.items():
        if name == "model":
            continue
        is_table = isinstance(value, Mapping)
        hint = f"a name with dots needs quotes: {_table_name(f'{entry}.{name}')}" if is_table else ""
        try:
            yield name, _option(name, options, hint).checked(value)
        except ValueError as error:
            raise SettingsError(f"{PYPROJECT}, {_table_name(entry)}: `{name}` {error}") from None


def _query_settings(model: Model, options: Mapping[str, Option]) -> Iterator[tuple[str, Json]]:
    for name, text in model.options.items():
        try:
            yield name, _option(name, options).parse_checked(text)
        except ValueError as error:
            raise SettingsError(f"{model.id}, after the question mark: `{name}` {error}") from None


def _option(name: str, options: Mapping[str, Option], hint: str = "") -> Option:
    """The option of this name. Raises ValueError; `hint` says what else may be wrong where there is none."""
    if name in options:
        return options[name]
    if name == "api_key" and "api_key_env" in options:
        raise ValueError(
            "must not be written here: set `api_key_env` to the name of the environment variable that holds the key"
        )
    raise ValueError(clauses(f"is not a setting; available: {', '.join(options)}", hint, did_you_mean(name, options)))


def _table_name(entry: str) -> str:
    return f'[{TABLE}."{entry}"]'


def _read_pyproject(file: Path) -> Mapping[str, object]:
    try:
        status = file.stat()
        return _parsed_pyproject(file, (status.st_mtime_ns, status.st_size, status.st_ino))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{PYPROJECT} cannot be read: {error}") from None


@lru_cache(maxsize=8)
def _parsed_pyproject(file: Path, _version: tuple[int, int, int]) -> Mapping[str, object]:
    """The file in this version, which is read again for each model, list of aliases and price."""
    import tomllib

    return tomllib.loads(read_regular(file).decode())


def _as_table(value: object, path: str) -> Mapping[str, object]:
    if isinstance(value, Mapping):
        return value
    raise ValueError(f"{PYPROJECT}: [{path}] must be a table")

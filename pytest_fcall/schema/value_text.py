"""Values, types, paths and differences as text for messages."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_fcall.core.readable_json import readable_json
from pytest_fcall.core.values import Json

_LONGEST = 60
_MOST_OPTIONS = 12
_MOST_BITS = 4096
_LONGEST_NAME = 100
_PLAIN_NAME = re.compile(rf"[\w$-]{{1,{_LONGEST_NAME}}}", re.ASCII)

_TYPES = {
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def types_in_words(types: Iterable[str]) -> str:
    """`an integer or null`, in the order of JSON Schema's own list of types."""
    given = set(types)
    if "number" in given:
        given.discard("integer")
    return alternatives([words for name, words in _TYPES.items() if name in given])


def alternatives(words: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def shown(value: object) -> str:
    """A short printable text of any value: strings quoted, containers by their kind."""
    match value:
        case str():
            return repr(value) if len(value) <= _LONGEST else f"{value[:_LONGEST]!r}…"
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case int():
            return str(value) if value.bit_length() <= _MOST_BITS else "a huge integer"
        case float():
            return repr(value) if math.isfinite(value) else str(value)
        case Mapping():
            return "an object"
        case Sequence() if not isinstance(value, bytes | bytearray):
            return "a list"
        case _:
            return f"a Python {type(value).__name__}"


def with_type(value: object) -> str:
    """The value with its kind before it: `the string '5'`."""
    match value:
        case str():
            return f"the string {shown(value)}"
        case bool():
            return f"the boolean {shown(value)}"
        case int() if value.bit_length() <= _MOST_BITS:
            return f"the integer {value}"
        case float():
            return f"the number {shown(value)}"
        case _:
            return shown(value)


def option(value: object) -> str:
    """A value as it stands in a list of choices: plain words need no quotes."""
    if isinstance(value, str) and value.replace(" ", "_").isidentifier() and value == value.strip():
        return value
    return shown(value)


def options(values: Sequence[object]) -> str:
    """`one of a, b, c`, or just the one; long lists are cut and counted."""
    if len(values) == 1:
        return shown(values[0])
    listed = ", ".join(option(value) for value in values[:_MOST_OPTIONS])
    return f"one of {listed}" + (f", … ({len(values)} in all)" if len(values) > _MOST_OPTIONS else "")


def nearest(name: object, known: Iterable[object], cutoff: float = 0.6) -> str | None:
    """The known name that was probably meant; letter case does not count."""
    if not isinstance(name, str) or len(name) > _LONGEST:
        return None
    folded = {other.casefold(): other for other in known if isinstance(other, str)}
    found = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=cutoff)
    return folded[found[0]] if found else None


def path_text(path: Sequence[str | int]) -> str:
    """A path inside arguments, as people write it: `stops[0].city`; names that would mislead are quoted."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN_NAME.fullmatch(step):
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{step[:_LONGEST_NAME]!r}]")
    return "".join(parts)


def quoted_path(path: Sequence[str | int]) -> str:
    """A path inside arguments in a sentence."""
    return f"`{path_text(path)}`" if path else "the call"


_LONGEST_COMPARED: Final = 20_000
"""Values whose text is longer are not compared part by part, which may take long."""
_LONGEST_SHOWN: Final = 60


def describe_changes(old: Json, new: Json, keys: Sequence[str | int]) -> list[str]:
    """Say what became of `old`, which stands at `keys`, a line each.

    Types count: 1, 1.0 and true are three things. Nothing is said of what is the same however it is written.
    """
    texts = json_text(old), json_text(new)
    if not all(text and len(text) <= _LONGEST_COMPARED for text in texts):
        return [f"{path_text(keys)}: differ, and are too long to be compared"]
    try:
        return sorted(_parts(old, new, keys))
    except RecursionError:
        return [f"{path_text(keys)}: differ, and nest too deeply to be compared"]


def json_text(value: Any) -> str | None:
    """The text of a value; None where JSON cannot say it."""
    try:
        return readable_json(value)
    except (ValueError, TypeError, RecursionError):
        return None


def shorten(text: str) -> str:
    """The beginning of a text that is long."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _parts(old: Any, new: Any, keys: Sequence[str | int]) -> Iterator[str]:
    from deepdiff import DeepDiff

    found = DeepDiff(old, new, view="tree", threshold_to_diff_deeper=0, ignore_nan_inequality=True)
    for kind, levels in found.items():
        for level in levels:
            path = path_text((*keys, *level.path(output_format="list")))
            yield f"{path}: {_change(kind, level.t1, level.t2)}"


def _change(kind: str, old: Json, new: Json) -> str:
    if kind.endswith("_added"):
        return f"{_value(new)} is new"
    if kind.endswith("_removed"):
        return f"{_value(old)} is gone"
    change = f"{_value(old)} → {_value(new)}"
    return f"{change} (type {_type(old)} → {_type(new)})" if kind == "type_changes" else change


def _type(value: Json) -> str:
    return "null" if value is None else type(value).__name__


def _value(value: Json) -> str:
    return shorten(readable_json(value)) if isinstance(value, dict | list) else shown(value)

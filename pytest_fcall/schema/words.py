"""Values, types and names in sentences."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence

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


def place(path: Sequence[str | int]) -> str:
    """A path inside arguments in a sentence."""
    return f"`{path_text(path)}`" if path else "the call"

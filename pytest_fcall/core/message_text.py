"""Values, types, paths and differences as text for messages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import nlargest
from typing import Any, Final

from pytest_fcall.core.json_data import readable_json
from pytest_fcall.core.values import Json, path_text

MAX_JSON_NUMBER_BITS: Final = 4096
"""The size of the largest integer that is taken for a JSON number; Python limits the digits of its text."""
_LONGEST = 60
_MOST_OPTIONS = 12
_MOST_COMPARED = 20

_TYPES = {
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "boolean": "a boolean",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def types_in_words(types: Iterable[str]) -> str:
    """Names of types in words, such as `an integer or null`, in a fixed order."""
    given = set(types)
    if "number" in given:
        given.discard("integer")
    return alternatives([words for name, words in _TYPES.items() if name in given])


def alternatives(words: Sequence[str]) -> str:
    """The words joined: `a`, `a or b`, `a, b or c`."""
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def shown(value: object) -> str:
    """A short printable text for any value: strings in quotes, containers by their kind."""
    match value:
        case str():
            return repr(value) if len(value) <= _LONGEST else f"{value[:_LONGEST]!r}…"
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case int():
            return str(value) if value.bit_length() <= MAX_JSON_NUMBER_BITS else "a huge integer"
        case float():
            return repr(value) if math.isfinite(value) else str(value)
        case Mapping():
            return "an object"
        case Sequence() if not isinstance(value, bytes | bytearray):
            return "a list"
        case _:
            return f"a Python {type(value).__name__}"


def with_type(value: object) -> str:
    """A value with its kind: `the string '5'`."""
    match value:
        case str():
            return f"the string {shown(value)}"
        case bool():
            return f"the boolean {shown(value)}"
        case int() if value.bit_length() <= MAX_JSON_NUMBER_BITS:
            return f"the integer {value}"
        case float():
            return f"the number {shown(value)}"
        case _:
            return shown(value)


def one_of_values(values: Sequence[object]) -> str:
    """The allowed values: `one of a, b, c`, or just the one. Long lists are shortened, with their length."""
    if len(values) == 1:
        return shown(values[0])
    named = ", ".join(_choice(value) for value in values[:_MOST_OPTIONS])
    return f"one of {named}" + (f", … ({len(values)} in all)" if len(values) > _MOST_OPTIONS else "")


def _choice(value: object) -> str:
    """A value in a list of choices. Plain words need no quotes."""
    if isinstance(value, str) and value.replace(" ", "_").isidentifier() and value == value.strip():
        return value
    return shown(value)


def nearest(name: object, known: Iterable[object], cutoff: float | None = None) -> str | None:
    """The known name closest to `name`, without regard to case; None if none is close."""
    if not isinstance(name, str) or len(name) > 2 * _LONGEST:
        return None
    from difflib import get_close_matches

    if cutoff is None:  # long names have letters in common by chance
        cutoff = 0.6 if len(name) < 6 else 0.7

    folded: dict[str, str] = {}
    for other in known:
        if isinstance(other, str):
            folded.setdefault(other.casefold(), other)
    wanted = name.casefold()
    found = get_close_matches(wanted, _likely(wanted, folded), n=1, cutoff=cutoff)
    return folded[found[0]] if found else None


def _likely(name: str, known: Mapping[str, str]) -> Iterable[str]:
    """The names that have most pairs of letters in common with `name`: to compare with thousands takes a while."""
    if len(known) <= _MOST_COMPARED:
        return known
    pairs = _letter_pairs(name)

    def likeness(other: str) -> float:
        others = _letter_pairs(other)
        return len(pairs & others) / (len(pairs) + len(others))

    return nlargest(_MOST_COMPARED, known, key=likeness)


@lru_cache(maxsize=20_000)
def _letter_pairs(name: str) -> frozenset[str]:
    return frozenset(map("".join, zip(f" {name}", f"{name} ", strict=True)))


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """A hint that names the known name closest to `name`; empty if none is close."""
    return suggestion(nearest(name, known))


def suggestion(meant: str | None) -> str:
    """The question whether this was meant; empty for None."""
    return "" if meant is None else f"did you mean `{meant}`?"


def clauses(*texts: str) -> str:
    """The clauses of a message, but for empty ones. The question whether something else was meant is the last."""
    return "; ".join(filter(None, texts))


def list_text(names: Sequence[str], most: int = 3) -> str:
    """The first names, and the number of the others: `a, b, c and 4 more`."""
    return " ".join(filter(None, (", ".join(names[:most]), others_text(names, most))))


def others_text(texts: Sequence[object], most: int) -> str:
    """The number of texts beyond the first, which are shown: `and 4 more`; empty where all are."""
    return f"and {len(texts) - most:,} more" if len(texts) > most else ""


def plural_text(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: `1 case`, `2 cases`. `plural` is the noun that does not end in s for several."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def quoted_path(path: Sequence[str | int]) -> str:
    """A path in arguments for a sentence: in back quotes; the empty path is the call itself."""
    return f"`{path_text(path)}`" if path else "the call"


_LONGEST_COMPARED: Final = 20_000
"""Longer values are not compared part by part, which may take long."""
_LONGEST_SHOWN: Final = 60


def describe_changes(old: Json, new: Json, keys: Sequence[str | int]) -> list[str]:
    """The changes from `old` to `new`, values at the path `keys`: one line for each.

    Types count: 1, 1.0 and true are three different values.
    """
    texts = json_text(old), json_text(new)
    if not all(text and len(text) <= _LONGEST_COMPARED for text in texts):
        return [f"{path_text(keys)}: differ, and are too long to be compared"]
    try:
        return sorted(_parts(old, new, keys))
    except RecursionError:
        return [f"{path_text(keys)}: differ, and nest too deeply to be compared"]


def json_text(value: Any) -> str | None:
    """The JSON text of a value; None if it is not a JSON value."""
    try:
        return readable_json(value)
    except (ValueError, TypeError, RecursionError):
        return None


def shorten(text: str) -> str:
    """The text, without its end if it is long."""
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
        return f"{_value(old)} was removed"
    change = f"{_value(old)} → {_value(new)}"
    return f"{change} (type {_type(old)} → {_type(new)})" if kind == "type_changes" else change


def _type(value: Json) -> str:
    return "null" if value is None else type(value).__name__


def _value(value: Json) -> str:
    return shorten(readable_json(value)) if isinstance(value, dict | list) else shown(value)

"""Wrong values for a right one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pytest_fcall.core import Json
from pytest_fcall.strength.mistakes.texts import wrong_texts

_NUMBER: Final = re.compile(r"-?\d{1,15}(?:\.\d{1,10})?")
_MOST_MEMBERS: Final = 6
_MOST_ITEMS: Final = 6
_LARGEST: Final = 1e15


class WrongValue(NamedTuple):
    """A wrong value, and the kind of mistake that it is."""

    mistake: str
    value: Json


def wrong_values(value: Json, declared: Mapping[str, Json], words: Sequence[str]) -> Iterator[WrongValue]:
    """Wrong values for a right one; `declared` is what its schema says, `words` are those of the question."""
    members = _members(declared)
    if members and not isinstance(value, list | Mapping):
        others = [each for each in members if not _same(each, value)]
        yield from (WrongValue("enum member", each) for each in others[:_MOST_MEMBERS])
    yield from _of_kind(value, words, is_listed=bool(members))
    if value is None:
        return
    yield WrongValue("null given", None)
    if not isinstance(value, list | Mapping):
        yield WrongValue("nesting changed", [value])
        yield WrongValue("nesting changed", {"value": value})


def _of_kind(value: Json, words: Sequence[str], *, is_listed: bool) -> Iterator[WrongValue]:
    """What is wrong by the type of the value; `is_listed` for a value of an enum."""
    match value:
        case bool():
            if not is_listed:
                yield WrongValue("boolean flipped", not value)
            yield WrongValue("type changed", str(value).lower())
            yield WrongValue("type changed", int(value))
        case int() | float():
            yield from _wrong_numbers(value, is_listed=is_listed)
        case str():
            yield from _wrong_texts(value, words, is_listed=is_listed)
        case list():
            yield from _wrong_lists(value)
        case Mapping() if len(value) == 1:
            yield WrongValue("nesting changed", next(iter(value.values())))


def _members(declared: Mapping[str, Json]) -> Sequence[Json]:
    """The values that an enum lists, where it lists some."""
    listed = declared.get("enum")
    if isinstance(listed, list):
        return listed
    for key in ("anyOf", "oneOf"):
        forms = declared.get(key)
        for form in forms if isinstance(forms, list) else ():
            inner = form.get("enum") if isinstance(form, Mapping) else None
            if isinstance(inner, list):
                return inner
    return ()


def _same(one: Json, other: Json) -> bool:
    return type(one) is type(other) and one == other


def _wrong_numbers(number: float, *, is_listed: bool) -> Iterator[WrongValue]:
    if isinstance(number, float) and not math.isfinite(number):
        return
    if abs(number) > _LARGEST:
        yield WrongValue("type changed", str(number))
        return
    if not is_listed:
        yield WrongValue("number changed", number + 1)
        yield WrongValue("number changed", number - 1)
        if number:
            yield WrongValue("number changed", number * 10)
            yield WrongValue("sign changed", -number)
            yield WrongValue("unit changed", number * 1000)
    yield WrongValue("type changed", str(number))
    if isinstance(number, int):
        yield WrongValue("type changed", float(number))
    if number in (0, 1):
        yield WrongValue("type changed", bool(number))


def _wrong_texts(text: str, words: Sequence[str], *, is_listed: bool) -> Iterator[WrongValue]:
    for mistake, other in wrong_texts(text, words):
        if not is_listed or mistake in ("text spelled otherwise", "text replaced"):
            yield WrongValue(mistake, other)
    if _NUMBER.fullmatch(text):
        yield WrongValue("type changed", float(text) if "." in text else int(text))
    elif text in ("true", "false"):
        yield WrongValue("type changed", text == "true")


def _wrong_lists(items: list[Json]) -> Iterator[WrongValue]:
    if len(items) > 1 and items != items[::-1]:
        yield WrongValue("list order", items[::-1])
        if len(items) > 2 and items[0] != items[1]:
            yield WrongValue("list order", [items[1], items[0], *items[2:]])
    for index in range(min(len(items), _MOST_ITEMS)):
        yield WrongValue("list item dropped", [*items[:index], *items[index + 1 :]])
    if items:
        yield WrongValue("list item added", [*items, items[0]])
        if isinstance(items[0], str):
            yield WrongValue("list item added", [*items, "something else"])
    if len(items) == 1:
        yield WrongValue("nesting changed", items[0])
    elif all(isinstance(item, str) for item in items):
        yield WrongValue("nesting changed", ", ".join(str(item) for item in items))

"""Wrong values for a right one, and values as short text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final, NamedTuple

from pytest_fcall.cases.yaml.values import write_flow
from pytest_fcall.core.message_text import shown
from pytest_fcall.core.values import Json

_NUMBER: Final = re.compile(r"-?\d{1,15}(?:\.\d{1,10})?")
_MOST_MEMBERS: Final = 6
_MOST_ITEMS: Final = 6
_LARGEST: Final = 1e15
_DATE: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_CLOCK: Final = re.compile(r"(?<=\d[T ])(\d{2})(?=:\d{2})")
_ID: Final = re.compile(r"(?=.*\d)[\w#./-]{2,40}")
_WORD: Final = re.compile(r"[^\W\d_]+")
_UNITS: Final[Mapping[str, str]] = MappingProxyType(
    {
        one: other
        for pair in (
            ("celsius", "fahrenheit"),
            ("metric", "imperial"),
            ("km", "miles"),
            ("kilometers", "miles"),
            ("kilometres", "miles"),
            ("kg", "pounds"),
            ("meters", "feet"),
            ("metres", "feet"),
            ("m", "ft"),
            ("cm", "inches"),
            ("hours", "minutes"),
            ("minutes", "seconds"),
            ("days", "weeks"),
            ("months", "years"),
            ("USD", "EUR"),
            ("EUR", "GBP"),
            ("liters", "gallons"),
        )
        for one, other in (pair, pair[::-1])
    }
)
_LONGEST_TEXT: Final = 2000
_LONGEST_BRIEF: Final = 36


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
    """The wrong values that follow from the type of the value; `is_listed` for a value of an enum."""
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


def wrong_texts(text: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Wrong texts, each with its kind of mistake. `words` are those of the question."""
    if len(text) > _LONGEST_TEXT:
        yield "text shorter", text[: _LONGEST_TEXT // 2]
        yield "text replaced", _other_word(text, words)
        return
    dates = list(_wrong_dates(text))
    yield from dates
    if not dates and _ID.fullmatch(text):
        yield from _wrong_ids(text)
    yield from _other_units(text)
    if text:
        yield "text longer", f"{text} {_other_word(text, words)}"
        yield from _shorter(text)
        yield from _spelled_otherwise(text)
    yield "text replaced", _other_word(text, words)


def _wrong_dates(text: str) -> Iterator[tuple[str, str]]:
    found = _DATE.search(text)
    if found is None:
        return
    try:
        day = date(int(found[1]), int(found[2]), int(found[3]))
        others = [day + timedelta(days=1), day - timedelta(days=1)]
    except (ValueError, OverflowError):
        return
    if day.day <= 12 and day.day != day.month:
        others.append(day.replace(month=day.day, day=day.month))
    if day.year > 1:
        others.append(day.replace(year=day.year - 1, day=min(day.day, 28)))
    for other in others:
        yield "date changed", f"{text[: found.start()]}{other.isoformat()}{text[found.end() :]}"
    if clock := _CLOCK.search(text):
        hour = (int(clock[1]) + 12) % 24
        yield "date changed", f"{text[: clock.start()]}{hour:02}{text[clock.end() :]}"


def _wrong_ids(text: str) -> Iterator[tuple[str, str]]:
    last = max(index for index, letter in enumerate(text) if letter.isdigit())
    if text[last].isascii():
        yield "id changed", f"{text[:last]}{(int(text[last]) + 1) % 10}{text[last + 1 :]}"
    for index in range(len(text) - 1, 0, -1):
        one, other = text[index - 1], text[index]
        if one != other and one.isalnum() and other.isalnum():
            yield "id changed", f"{text[: index - 1]}{other}{one}{text[index + 1 :]}"
            return


def _other_units(text: str) -> Iterator[tuple[str, str]]:
    for word in _WORD.finditer(text):
        other = _UNITS.get(word[0]) or _UNITS.get(word[0].lower())
        if other:
            yield "unit changed", f"{text[: word.start()]}{other}{text[word.end() :]}"
            return


def _shorter(text: str) -> Iterator[tuple[str, str]]:
    first, _, rest = text.strip().partition(" ")
    if rest:
        yield "text shorter", first.rstrip(",;:")
        yield "text shorter", rest
    elif len(text) > 4:
        yield "text shorter", text[: len(text) // 2]


def _spelled_otherwise(text: str) -> Iterator[tuple[str, str]]:
    spellings = (text.lower(), text.title(), text.upper(), text.replace(" ", "_"), f"{text}.")
    for other in dict.fromkeys(each for each in spellings if each != text):
        yield "text spelled otherwise", other


def _other_word(text: str, words: Sequence[str]) -> str:
    folded = text.casefold()
    others = (word for word in words if len(word) > 3 and word.casefold() not in folded)
    fitting = (word for word in others if not folded or folded not in word.casefold())
    return next(fitting, "something else" if folded != "something else" else "another thing")


def brief(value: Json) -> str:
    """A value in one line, cut where it is long."""
    if not isinstance(value, list | dict):
        return shown(value)
    if len(value) > _LONGEST_BRIEF:
        return f"a list of {len(value):,}" if isinstance(value, list) else f"an object of {len(value):,}"
    written = write_flow(value)
    return written if len(written) <= _LONGEST_BRIEF else f"{written[: _LONGEST_BRIEF - 1]}…"

"""Wrong texts: dates, ids and units apart from other words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final

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
_LONGEST: Final = 2000


def wrong_texts(text: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Wrong texts, each with its kind of mistake. `words` are those of the question."""
    if len(text) > _LONGEST:
        yield "text shorter", text[: _LONGEST // 2]
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

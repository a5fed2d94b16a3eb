"""`$date` and `$datetime`, by the case's clock.

Days and moments are read in all spellings that have one meaning only. `03/04/2026` is a day in March or one in April,
so numbers alone are read only where the year comes first, as in ISO 8601. Names of months and weekdays are English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from functools import partial
from types import MappingProxyType

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.operators.table import BadOperandError, operand_text
from pytest_fcall.matching.place import Mismatch, Place

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_MAX_LENGTH = 80
"""Longer texts are not read as dates."""

_WEEKDAY = r"(?:(?P<weekday>[a-z]{3,9})\.?,?\s+)?"
_MONTH = r"(?P<month>[a-z]{3,9})\.?"
_YEAR = r",?\s+(?P<year>[0-9]{4})"
_DAY_FIRST = re.compile(rf"{_WEEKDAY}(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?(?:\s+of)?\s+{_MONTH}{_YEAR}")
_HYPHENATED = re.compile(r"(?P<day>[0-9]{1,2})-(?P<month>[a-z]{3,9})-(?P<year>[0-9]{4})")
_YEAR_FIRST = re.compile(r"(?P<year>[0-9]{4})(?P<mark>[-/.])(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})")
_MONTH_FIRST = re.compile(rf"{_WEEKDAY}{_MONTH}\s+(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?{_YEAR}")
_DAY_AND_TIME = re.compile(r"(?P<day>.+[0-9]{2}),?\s+(?:at\s+)?(?P<time>[0-9].*)")
# The hour has two digits, as 1:00 may be in the afternoon.
_CLOCK_24 = re.compile(r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?")
_CLOCK_12 = re.compile(
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2}))?(?::(?P<second>[0-9]{2}))?\s*(?P<half>[ap])\.?m\.?"
)


def read_day(text: str) -> date | None:
    """Read a day; None where the text is not a day, or could mean two."""
    plain = _lower_ascii(text)
    try:
        return date.fromisoformat(plain.upper())
    except ValueError:
        return _spelled_day(plain)


def read_moment(text: str) -> datetime | None:
    """Read a day with a time, with or without a time zone; None where the text is something else."""
    plain = _lower_ascii(text)
    if read_day(plain) is not None:
        return None
    try:
        return datetime.fromisoformat(plain.upper())
    except ValueError:
        parts = _DAY_AND_TIME.fullmatch(plain)
    if parts is None:
        return None
    day, clock = read_day(parts["day"]), _read_clock(parts["time"])
    return None if day is None or clock is None else datetime.combine(day, clock)


def weekday_number(name: str) -> int | None:
    """The number of a weekday, with Monday as 0, by its name or at least three of its first letters."""
    return _name_number(name, _WEEKDAYS)


def _lower_ascii(text: str) -> str:
    if len(text) > _MAX_LENGTH or not text.isascii():
        return ""
    return text.strip().lower()


def _spelled_day(text: str) -> date | None:
    if numbers := _YEAR_FIRST.fullmatch(text):
        return _valid_date(numbers["year"], int(numbers["month"]), numbers["day"])
    found = _DAY_FIRST.fullmatch(text) or _MONTH_FIRST.fullmatch(text) or _HYPHENATED.fullmatch(text)
    if found is None or (month := _name_number(found["month"], _MONTHS)) is None:
        return None
    day, named = _valid_date(found["year"], month + 1, found["day"]), found.groupdict().get("weekday")
    return day if day is None or named is None or weekday_number(named) == day.weekday() else None


def _valid_date(year: str, month: int, day: str) -> date | None:
    try:
        return date(int(year), month, int(day))
    except ValueError:
        return None


def _read_clock(text: str) -> time | None:
    found = _CLOCK_24.fullmatch(text) or _CLOCK_12.fullmatch(text)
    if found is None:
        return None
    hour, half = int(found["hour"]), found.groupdict().get("half")
    if half is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        return time(hour, int(found["minute"] or 0), int(found["second"] or 0))
    except ValueError:
        return None


def _name_number(name: str, names: list[str]) -> int | None:
    if len(name) < 3:
        return None
    return next((index for index, full in enumerate(names) if full.startswith(name)), None)


_NEAR_DAYS: Mapping[str, int] = MappingProxyType({"yesterday": -1, "today": 0, "tomorrow": 1})
_DAY_OFFSET = re.compile(r"(?P<count>[+-][0-9]{1,6})(?P<unit>[dw])")


def same_day(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """A string that names the day, and no time."""
    expected = _expected_day(operand_text(operator), place.context.rules.now)
    if isinstance(got, str) and read_day(got) == expected:
        return []
    return place.mismatch(operator, got, partial(_day_hint, expected, got))


def same_moment(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """A string that names the moment, or one within the span.

    An expected moment without a time zone has that of the clock, or without a clock that of the answer. An answer
    without one has that of the expected moment: the clock's offset may be that of another season.
    """
    now = place.context.rules.now
    first, last = _expected_span(operator.operand, now)
    moment = read_moment(got) if isinstance(got, str) else None
    if moment is None:
        return place.mismatch(operator, got, partial(_moment_hint, got))
    zone = first.tzinfo
    given = moment.replace(tzinfo=zone) if zone is None or moment.tzinfo is None else moment
    return [] if first <= given <= last else place.mismatch(operator, got, f"that is {_span_text(first, last)}")


def _expected_day(written: str, now: datetime | None) -> date:
    spec = written.strip().lower()
    try:
        return date.fromisoformat(spec)
    except ValueError:
        pass
    offset = _DAY_OFFSET.fullmatch(spec)
    weekday = weekday_number(spec)
    if offset is None and weekday is None and spec not in _NEAR_DAYS:
        raise BadOperandError(f"{spec!r} is not a day: use an ISO date, today, tomorrow, a weekday, or +3d")
    if now is None:
        raise BadOperandError(f"{spec!r} depends on the current day: set the case's clock with `now:`")
    today = now.date()
    try:
        if offset is not None:
            return today + timedelta(days=int(offset["count"]) * (7 if offset["unit"] == "w" else 1))
        if weekday is not None:
            return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)
        return today + timedelta(days=_NEAR_DAYS[spec])
    except OverflowError:
        raise BadOperandError(f"{spec!r} is beyond the calendar") from None


def _expected_span(operand: Pattern, now: datetime | None) -> tuple[datetime, datetime]:
    zone = now.tzinfo if now is not None else None
    if isinstance(operand, str):
        try:
            moment = datetime.fromisoformat(operand)
        except ValueError:
            raise BadOperandError(
                f"`$datetime` takes an ISO date and time or {{day, from, to}}, not {operand!r}"
            ) from None
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
        return moment, moment
    if not isinstance(operand, Mapping) or not isinstance(spec := operand.get("day"), str):
        raise BadOperandError("`$datetime` takes an ISO date and time or {day, from, to}")
    day = _expected_day(spec, now)
    first = _clock_time(day, operand.get("from", "00:00"), zone)
    last = _clock_time(day, operand["to"], zone) if "to" in operand else datetime.combine(day, time.max, zone)
    try:
        # From 22:00 to 02:00 ends on the day after.
        return first, last if first <= last else last + timedelta(days=1)
    except OverflowError:
        raise BadOperandError(f"the night of {spec!r} ends beyond the calendar") from None


def _clock_time(day: date, clock: Pattern, zone: tzinfo | None) -> datetime:
    try:
        return datetime.combine(day, time.fromisoformat(clock if isinstance(clock, str) else ""), zone)
    except ValueError:
        raise BadOperandError(f"`from` and `to` of `$datetime` take times such as 17:30, not {clock!r}") from None


def _day_hint(expected: date, got: Json) -> str:
    if not isinstance(got, str):
        return ""
    if read_moment(got) is not None:
        return "it names a moment, not a day: `$datetime: {day: …}` accepts one"
    if read_day(got) is None:
        return f"that is {expected.isoformat()}, in a spelling with only one meaning"
    return f"that is {expected.isoformat()}"


def _moment_hint(got: Json) -> str:
    if not isinstance(got, str):
        return ""
    if read_day(got) is not None:
        return "it names a day, not a moment: `$date` accepts one"
    return "it is not a moment in a spelling with only one meaning"


def _span_text(first: datetime, last: datetime) -> str:
    return first.isoformat() if first == last else f"from {first.isoformat()} to {last.isoformat()}"

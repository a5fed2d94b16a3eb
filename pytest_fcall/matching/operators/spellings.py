"""Days and moments as people and programs write them, where only one reading is possible.

`03/04/2026` is a day in March or one in April: a bare row of numbers is read only where the year comes first, as in
ISO 8601. Month and weekday names are English.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time

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
_LONGEST = 80
"""Characters of a text that may still be a date."""

_WEEKDAY = r"(?:(?P<weekday>[a-z]{3,9})\.?,?\s+)?"
_MONTH = r"(?P<month>[a-z]{3,9})\.?"
_YEAR = r",?\s+(?P<year>[0-9]{4})"
_DAY_FIRST = re.compile(rf"{_WEEKDAY}(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?(?:\s+of)?\s+{_MONTH}{_YEAR}")
_HYPHENATED = re.compile(r"(?P<day>[0-9]{1,2})-(?P<month>[a-z]{3,9})-(?P<year>[0-9]{4})")
_YEAR_FIRST = re.compile(r"(?P<year>[0-9]{4})(?P<mark>[-/.])(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})")
_MONTH_FIRST = re.compile(rf"{_WEEKDAY}{_MONTH}\s+(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?{_YEAR}")
_DAY_AND_TIME = re.compile(r"(?P<day>.+[0-9]{2}),?\s+(?:at\s+)?(?P<time>[0-9].*)")
# With one digit and no half of the day, 1:00 may be in the afternoon.
_CLOCK_24 = re.compile(r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?")
_CLOCK_12 = re.compile(
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2}))?(?::(?P<second>[0-9]{2}))?\s*(?P<half>[ap])\.?m\.?"
)


def read_day(text: str) -> date | None:
    """Read a day, or None where the text is not one or might be two."""
    plain = _plain(text)
    try:
        return date.fromisoformat(plain.upper())
    except ValueError:
        return _spelled_day(plain)


def read_moment(text: str) -> datetime | None:
    """Read a day with a time of day, with or without a time zone."""
    plain = _plain(text)
    if read_day(plain) is not None:
        return None
    try:
        return datetime.fromisoformat(plain.upper())
    except ValueError:
        parts = _DAY_AND_TIME.fullmatch(plain)
    if parts is None:
        return None
    day, clock = read_day(parts["day"]), _clock(parts["time"])
    return None if day is None or clock is None else datetime.combine(day, clock)


def weekday_number(name: str) -> int | None:
    """Count a weekday from Monday, 0, by its name or the first three letters or more of it."""
    return _number(name, _WEEKDAYS)


def _plain(text: str) -> str:
    if len(text) > _LONGEST or not text.isascii():
        return ""
    return text.strip().lower()


def _spelled_day(text: str) -> date | None:
    if numbers := _YEAR_FIRST.fullmatch(text):
        return _date(numbers["year"], int(numbers["month"]), numbers["day"])
    found = _DAY_FIRST.fullmatch(text) or _MONTH_FIRST.fullmatch(text) or _HYPHENATED.fullmatch(text)
    if found is None or (month := _number(found["month"], _MONTHS)) is None:
        return None
    day, named = _date(found["year"], month + 1, found["day"]), found.groupdict().get("weekday")
    return day if day is None or named is None or weekday_number(named) == day.weekday() else None


def _date(year: str, month: int, day: str) -> date | None:
    try:
        return date(int(year), month, int(day))
    except ValueError:
        return None


def _clock(text: str) -> time | None:
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


def _number(name: str, names: list[str]) -> int | None:
    if len(name) < 3:
        return None
    return next((index for index, full in enumerate(names) if full.startswith(name)), None)

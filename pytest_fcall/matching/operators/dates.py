"""`$date` and `$datetime`, by the case's clock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from functools import partial
from types import MappingProxyType

from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.mismatch import Mismatch
from pytest_fcall.matching.objects import Compare
from pytest_fcall.matching.operators.operand import BadOperandError, text
from pytest_fcall.matching.operators.spellings import read_day, read_moment, weekday_number
from pytest_fcall.matching.place import Place

_NEAR: Mapping[str, int] = MappingProxyType({"yesterday": -1, "today": 0, "tomorrow": 1})
_OFFSET = re.compile(r"(?P<count>[+-][0-9]{1,6})(?P<unit>[dw])")


def same_day(operator: Operator, got: Json, at: Place, _compare: Compare) -> list[Mismatch]:
    """A string that names the day and nothing more."""
    expected = _day(text(operator), at.ways.rules.now)
    if isinstance(got, str) and read_day(got) == expected:
        return []
    return at.mismatch(operator, got, partial(_day_hint, expected, got))


def same_moment(operator: Operator, got: Json, at: Place, _compare: Compare) -> list[Mismatch]:
    """A string that names the moment, or one within the span.

    What names no time zone is read in that of the clock, or without a clock in that of the other side.
    """
    now = at.ways.rules.now
    first, last = _span(operator.operand, now)
    moment = read_moment(got) if isinstance(got, str) else None
    if moment is None:
        return at.mismatch(operator, got, partial(_moment_hint, got))
    zone = first.tzinfo
    given = moment.replace(tzinfo=zone) if zone is None or moment.tzinfo is None else moment
    return [] if first <= given <= last else at.mismatch(operator, got, f"that is {_words(first, last)}")


def _day(written: str, now: datetime | None) -> date:
    spec = written.strip().lower()
    try:
        return date.fromisoformat(spec)
    except ValueError:
        pass
    offset = _OFFSET.fullmatch(spec)
    weekday = weekday_number(spec)
    if offset is None and weekday is None and spec not in _NEAR:
        raise BadOperandError(f"{spec!r} is no day: give an ISO date, today, tomorrow, a weekday, or +3d")
    if now is None:
        raise BadOperandError(f"{spec!r} depends on the day it is: set the case's clock with `now:`")
    today = now.date()
    try:
        if offset is not None:
            return today + timedelta(days=int(offset["count"]) * (7 if offset["unit"] == "w" else 1))
        if weekday is not None:
            return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)
        return today + timedelta(days=_NEAR[spec])
    except OverflowError:
        raise BadOperandError(f"{spec!r} is beyond the calendar") from None


def _span(operand: Pattern, now: datetime | None) -> tuple[datetime, datetime]:
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
    day = _day(spec, now)
    first = _at(day, operand.get("from", "00:00"), zone)
    last = _at(day, operand["to"], zone) if "to" in operand else datetime.combine(day, time.max, zone)
    try:
        # From 22:00 to 02:00 ends on the day after.
        return first, last if first <= last else last + timedelta(days=1)
    except OverflowError:
        raise BadOperandError(f"the night of {spec!r} ends beyond the calendar") from None


def _at(day: date, clock: Pattern, zone: tzinfo | None) -> datetime:
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
        return f"that is {expected.isoformat()}, in a spelling that can be read in one way only"
    return f"that is {expected.isoformat()}"


def _moment_hint(got: Json) -> str:
    if not isinstance(got, str):
        return ""
    if read_day(got) is not None:
        return "it names a day, not a moment: `$date` accepts one"
    return "it is no moment that can be read in one way only"


def _words(first: datetime, last: datetime) -> str:
    return first.isoformat() if first == last else f"from {first.isoformat()} to {last.isoformat()}"

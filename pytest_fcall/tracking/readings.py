"""The figures that gates know, and how each is read off what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite
from types import MappingProxyType
from typing import Literal, TypeAlias

from pytest_fcall.tracking.change import worse
from pytest_fcall.tracking.measured import Measured, Told

_FINEST = 10**9
"""Sums and quotients are off by a little, and 0.7 is to be what people mean by it."""
_NOTHING_ACCEPTED = "nothing is accepted yet to compare with"

Number: TypeAlias = Fraction | float
Kind: TypeAlias = Literal["share", "count", "dollars", "seconds", "chance"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A figure as far as it is known (None: not at all), and between what it lies.

    Where something is `lacking`, the figure may still come to be anything between `low` and `high`.
    """

    value: Number | None
    low: Number
    high: Number
    lacking: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """Something that a gate may bound."""

    kind: Kind
    read: Callable[[Measured], Reading]
    of: Callable[[Measured], int] = lambda measured: measured.answered
    """Of how many a count is a share, where its bound is in percent."""


def _accuracy(measured: Measured) -> Reading:
    return _share(_count(measured.right, measured), measured.answered, measured.missing)


def share_of(figure: Figure, measured: Measured) -> Reading:
    """A count as a share of what it counts among."""
    return _share(figure.read(measured), figure.of(measured), measured.missing)


def _share(count: Reading, of: int, missing: int) -> Reading:
    if of + missing == 0:
        return Reading(None, 0, 1, count.lacking or "no case was answered")
    value = None if count.value is None or of == 0 else Fraction(count.value) / of
    low, high = Fraction(count.low) / (of + missing), Fraction(min(count.high, of + missing)) / (of + missing)
    return Reading(value, low, high, count.lacking)


def _count(number: int, measured: Measured) -> Reading:
    """Each reply that is missing may add one."""
    return Reading(number, number, number + measured.missing, _missing(measured))


def _cost(measured: Measured) -> Reading:
    known = round(measured.cost or 0.0, 9)  # sums of dollars are off by a little
    lacking = _missing(measured)
    if measured.unpriced and not lacking:
        lacking = f"the cost of {_replies(measured.unpriced)} is not known"
    value = None if measured.cost is None and measured.answered else known
    return Reading(value, known, inf if lacking else known, lacking)


def _seconds(value: float | None, measured: Measured) -> Reading:
    lacking = _missing(measured)
    if value is None and not lacking:
        lacking = "no reply was timed"
    return Reading(value, 0.0, inf, lacking) if lacking or value is None else Reading(value, value, value)


def _change(number: int, measured: Measured) -> Reading:
    """A count among the cases that have an accepted answer."""
    if measured.pairs or measured.missing:
        return _count(number, measured)
    return Reading(None, 0, inf, _NOTHING_ACCEPTED)


def _significant(measured: Measured) -> Reading:
    if not measured.pairs or measured.missing:
        value = worse(measured.pairs) if measured.pairs else None
        return Reading(value, 0.0, 1.0, _missing(measured) or _NOTHING_ACCEPTED)
    chance = worse(measured.pairs)
    return Reading(chance, chance, chance)


def _score(name: str, measured: Measured) -> Reading:
    told = measured.scores.get(name, Told(None))
    known = told.value is not None and isfinite(told.value)
    value = Fraction(told.value).limit_denominator(_FINEST) if known and told.value is not None else None
    if told.missing:
        return Reading(value, 0, 1, f"{_replies(told.missing)} missing")
    if value is None:
        return Reading(None, 0, 1, told.lacking or "no case has this score")
    return Reading(value, value, value)


def _missing(measured: Measured) -> str:
    return f"{_replies(measured.missing)} missing" if measured.missing else ""


def _compared(measured: Measured) -> int:
    return len(measured.pairs)


def _replies(count: int) -> str:
    return "1 reply" if count == 1 else f"{count:,} replies"


FIGURES: Mapping[str, Figure] = MappingProxyType(
    {
        "accuracy": Figure("share", _accuracy),
        "cases": Figure("count", lambda measured: _count(measured.answered, measured)),
        "regressions": Figure("count", lambda measured: _change(measured.regressions, measured), _compared),
        "fixed": Figure("count", lambda measured: _change(measured.fixed, measured), _compared),
        "flaky": Figure("count", lambda measured: _count(measured.flaky, measured)),
        "significant": Figure("chance", _significant),
        "malformed": Figure("count", lambda measured: _count(measured.malformed, measured)),
        "cost": Figure("dollars", _cost),
        "p50": Figure("seconds", lambda measured: _seconds(measured.p50, measured)),
        "p95": Figure("seconds", lambda measured: _seconds(measured.p95, measured)),
        "max": Figure("seconds", lambda measured: _seconds(measured.slowest, measured)),
    }
)


def figure_named(name: str) -> Figure:
    """One of these figures, or else a score."""
    return FIGURES.get(name) or Figure("share", lambda measured: _score(name, measured))

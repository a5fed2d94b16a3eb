"""The figures and scores that a gate may bound, each read as a range from what a group of cases came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isfinite
from types import MappingProxyType
from typing import Literal, TypeAlias

from pytest_fcall.tracking.significance import RatePair, p_value_worse


@dataclass(frozen=True, slots=True)
class GroupScore:
    """A score of a group of cases, from 0 to 1; None where there is nothing that it could be made of."""

    value: float | None
    missing: int = 0
    """Cases without a reply among those that it is made of."""
    lacking: str = ""
    """Why it has no value."""


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """What a group of cases came to. What nobody measured is None, never zero."""

    answered: int = 0
    right: int = 0
    missing: int = 0
    """Cases without a reply, which say nothing of the model: nobody could be reached, or none is recorded."""
    malformed: int = 0
    cost: float | None = None
    """In US dollars, as far as it is known."""
    unpriced: int = 0
    """Answers whose cost is not known."""
    p50: float | None = None
    p95: float | None = None
    slowest: float | None = None
    """In seconds."""
    regressions: int = 0
    fixed: int = 0
    flaky: int = 0
    """Cases to which some answers were right, and others were not."""
    pairs: tuple[RatePair, ...] = ()
    """The cases that have an accepted answer, before and now."""
    scores: Mapping[str, GroupScore] = field(default_factory=dict)
    """Those that are beside verdicts, and those of suites, by name."""


_FINEST = 10**9
"""Sums and quotients are off by a little, and 0.7 is to be what people mean by it."""
_NO_BASELINE = "nothing is accepted yet to compare with"

Number: TypeAlias = Fraction | float
FigureKind: TypeAlias = Literal["share", "count", "dollars", "seconds", "chance"]


@dataclass(frozen=True, slots=True)
class FigureRange:
    """A figure as far as it is known (None: not at all), and between what it lies.

    Where something is `lacking`, the figure may still come to be anything between `low` and `high`.
    """

    value: Number | None
    low: Number
    high: Number
    lacking: str = ""


@dataclass(frozen=True, slots=True)
class GateFigure:
    """Something that a gate may bound."""

    kind: FigureKind
    read: Callable[[GroupFigures], FigureRange]
    of: Callable[[GroupFigures], int] = lambda measured: measured.answered
    """Of how many a count is a share, where its bound is in percent."""


def _accuracy(measured: GroupFigures) -> FigureRange:
    return _share(_count(measured.right, measured), measured.answered, measured.missing)


def read_share(figure: GateFigure, measured: GroupFigures) -> FigureRange:
    """A count as a share of what it counts among."""
    return _share(figure.read(measured), figure.of(measured), measured.missing)


def _share(count: FigureRange, of: int, missing: int) -> FigureRange:
    if of + missing == 0:
        return FigureRange(None, 0, 1, count.lacking or "no case was answered")
    value = None if count.value is None or of == 0 else Fraction(count.value) / of
    low, high = Fraction(count.low) / (of + missing), Fraction(min(count.high, of + missing)) / (of + missing)
    return FigureRange(value, low, high, count.lacking)


def _count(number: int, measured: GroupFigures) -> FigureRange:
    """Each reply that is missing may add one."""
    return FigureRange(number, number, number + measured.missing, _missing_replies(measured))


def _cost(measured: GroupFigures) -> FigureRange:
    known = round(measured.cost or 0.0, 9)  # sums of dollars are off by a little
    lacking = _missing_replies(measured)
    if measured.unpriced and not lacking:
        lacking = f"the cost of {_replies_text(measured.unpriced)} is not known"
    value = None if measured.cost is None and measured.answered else known
    return FigureRange(value, known, inf if lacking else known, lacking)


def _seconds(value: float | None, measured: GroupFigures) -> FigureRange:
    lacking = _missing_replies(measured)
    if value is None and not lacking:
        lacking = "no reply was timed"
    return FigureRange(value, 0.0, inf, lacking) if lacking or value is None else FigureRange(value, value, value)


def _change(number: int, measured: GroupFigures) -> FigureRange:
    """A count among the cases that have an accepted answer."""
    if measured.pairs or measured.missing:
        return _count(number, measured)
    return FigureRange(None, 0, inf, _NO_BASELINE)


def _significant(measured: GroupFigures) -> FigureRange:
    if not measured.pairs or measured.missing:
        value = p_value_worse(measured.pairs) if measured.pairs else None
        return FigureRange(value, 0.0, 1.0, _missing_replies(measured) or _NO_BASELINE)
    chance = p_value_worse(measured.pairs)
    return FigureRange(chance, chance, chance)


def _score(name: str, measured: GroupFigures) -> FigureRange:
    told = measured.scores.get(name, GroupScore(None))
    known = told.value is not None and isfinite(told.value)
    value = Fraction(told.value).limit_denominator(_FINEST) if known and told.value is not None else None
    if told.missing:
        return FigureRange(value, 0, 1, f"{_replies_text(told.missing)} missing")
    if value is None:
        return FigureRange(None, 0, 1, told.lacking or "no case has this score")
    return FigureRange(value, value, value)


def _missing_replies(measured: GroupFigures) -> str:
    return f"{_replies_text(measured.missing)} missing" if measured.missing else ""


def _compared_cases(measured: GroupFigures) -> int:
    return len(measured.pairs)


def _replies_text(count: int) -> str:
    return "1 reply" if count == 1 else f"{count:,} replies"


FIGURES: Mapping[str, GateFigure] = MappingProxyType(
    {
        "accuracy": GateFigure("share", _accuracy),
        "cases": GateFigure("count", lambda measured: _count(measured.answered, measured)),
        "regressions": GateFigure("count", lambda measured: _change(measured.regressions, measured), _compared_cases),
        "fixed": GateFigure("count", lambda measured: _change(measured.fixed, measured), _compared_cases),
        "flaky": GateFigure("count", lambda measured: _count(measured.flaky, measured)),
        "significant": GateFigure("chance", _significant),
        "malformed": GateFigure("count", lambda measured: _count(measured.malformed, measured)),
        "cost": GateFigure("dollars", _cost),
        "p50": GateFigure("seconds", lambda measured: _seconds(measured.p50, measured)),
        "p95": GateFigure("seconds", lambda measured: _seconds(measured.p95, measured)),
        "max": GateFigure("seconds", lambda measured: _seconds(measured.slowest, measured)),
    }
)


def figure_named(name: str) -> GateFigure:
    """One of these figures, or else a score."""
    return FIGURES.get(name) or GateFigure("share", lambda measured: _score(name, measured))

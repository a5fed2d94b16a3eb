"""The figures and scores that gates can bound, each read as a range from the figures of a group of cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf, isfinite
from types import MappingProxyType
from typing import Literal, TypeAlias

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.tracking.flips import RelationFlips
from pytest_fcall.tracking.slices import SliceTests

FigureNumber: TypeAlias = Fraction | float
FigureKind: TypeAlias = Literal["share", "count", "dollars", "seconds", "chance"]

_FINEST = 10**9
"""Scores are rounded to this denominator: computed values are a little off, and 0.7 must equal 0.7."""
_NO_BASELINE = "no baseline to compare with"
_UNDECIDED_MISTAKES = "some mistakes are noticed in a run or not at all: `fcall strength` names them"


@dataclass(frozen=True, slots=True)
class GroupScore:
    """A score of a group of cases, from 0 to 1; None where no case adds to it."""

    value: float | None
    missing: int = 0
    """The number of its cases without a reply."""
    missing_reason: str = ""
    """The reason why it has no value."""


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """The figures of a group of cases. A figure that was not measured is None, never zero."""

    answered: int = 0
    right: int = 0
    missing: int = 0
    """The number of cases without a reply: the model was unavailable, or none is recorded."""
    malformed: int = 0
    cost: float | None = None
    """The known cost, in US dollars."""
    unpriced: int = 0
    """The number of answers with unknown cost."""
    p50: float | None = None
    p95: float | None = None
    slowest: float | None = None
    """The longest time of a reply, in seconds, as are `p50` and `p95`."""
    compared: int = 0
    """The number of cases that are compared with what was accepted, or measured, of them."""
    regressions: int = 0
    fixed: int = 0
    undecided: int = 0
    """The number of cases of which nobody can say whether they regressed or are wrong by chance."""
    edited: int = 0
    """The number of cases that were edited since they were accepted; they are not compared."""
    unmeasured: int = 0
    """The number of other answered cases of which nothing is measured as they are today."""
    flaky: int = 0
    """The number of cases with right and wrong answers."""
    attacks: int = 0
    """The number of attacks in results of tools that the model got."""
    obeyed: int = 0
    """Those of them that it obeyed."""
    lost_attacks: int = 0
    """The number of attacks that did not get to the model."""
    unjudged_attacks: int = 0
    """The number of cases with an attack that were not judged."""
    faulty: int = 0
    """The number of faulty results of tools that the model got."""
    recovered: int = 0
    """Those of them that it recovered from."""
    lost_faults: int = 0
    """The number of faults that did not get to the model."""
    unjudged_faults: int = 0
    """The number of cases with a fault that were not judged."""
    tests: SliceTests = field(default_factory=lambda: SliceTests(1.0))
    """A significance test for each part of the cases."""
    strength: tuple[float, float, float] | None = None
    """The mean weights of the mistakes that cases notice, that pass, and of which only a run decides."""
    unmeasured_strength: int = 0
    """The number of cases of which the strength is not known."""
    scores: Mapping[str, GroupScore] = field(default_factory=dict)
    """The scores of suites and of `fc_scores`, by name."""
    flips: tuple[RelationFlips, ...] = ()
    """The rates at which verdicts flip in variants, for each relation and model."""
    unknown_scope: str = ""
    """The reason why no case is in the scope of the gate."""


@dataclass(frozen=True, slots=True)
class FigureRange:
    """A figure as far as it is known, and its possible range.

    Where something is missing, `missing_reason` says what, and the figure may be anything from `low` to `high`.
    """

    value: FigureNumber | None
    low: FigureNumber
    high: FigureNumber
    missing_reason: str = ""
    doubt: str = ""
    """The reason for a range though nothing is missing. It says nothing where the range is a single value, or where the
    bound lies outside it."""


@dataclass(frozen=True, slots=True)
class GateFigure:
    """A figure that a gate can bound."""

    kind: FigureKind
    read: Callable[[GroupFigures], FigureRange]
    base: Callable[[GroupFigures], int] = lambda measured: measured.answered
    """The number of which a count is a share, where its bound is in percent."""
    unknown: Callable[[GroupFigures], int] = lambda measured: measured.missing
    """The number by which that may grow."""


def _unknown_share(missing_reason: str) -> FigureRange:
    return FigureRange(None, 0, 1, missing_reason)


def _accuracy(measured: GroupFigures) -> FigureRange:
    return _share(_count(measured.right, measured), measured.answered, measured.missing)


def read_share(figure: GateFigure, measured: GroupFigures) -> FigureRange:
    """A count as a share of its base."""
    return _share(figure.read(measured), figure.base(measured), figure.unknown(measured))


def _share(count: FigureRange, base: int, unknown: int) -> FigureRange:
    total = base + unknown
    if total == 0:
        return _unknown_share(count.missing_reason or "no case was answered")
    value = None if count.value is None or base == 0 else Fraction(count.value) / base
    if count.high == inf:  # what has no bound may be part of a whole that has none
        return replace(count, value=value, low=0, high=1)
    low, high = Fraction(count.low) / total, Fraction(min(count.high, total)) / total
    return replace(count, value=value, low=low, high=high)


def _count(number: int, measured: GroupFigures) -> FigureRange:
    """A count; each missing reply may add one."""
    return FigureRange(number, number, number + measured.missing, _missing_replies(measured))


def _cost(measured: GroupFigures) -> FigureRange:
    known = round(measured.cost or 0.0, 9)  # sums of floats are a little off
    missing = _missing_replies(measured)
    if measured.unpriced and not missing:
        missing = f"{plural_text(measured.unpriced, 'reply', 'replies')} of unknown cost"
    value = None if measured.cost is None and measured.answered else known
    return FigureRange(value, known, inf if missing else known, missing)


def _seconds(value: float | None, measured: GroupFigures) -> FigureRange:
    missing = _missing_replies(measured)
    if value is None or missing:
        return FigureRange(value, 0.0, inf, missing or "no reply was timed")
    return FigureRange(value, value, value)


def _longest(measured: GroupFigures) -> FigureRange:
    """The longest time; a missing reply may take longer."""
    found = _seconds(measured.slowest, measured)
    return found if found.value is None else replace(found, low=found.value)


def _change(number: int, measured: GroupFigures) -> FigureRange:
    """A count of the cases that are compared."""
    if measured.compared or measured.missing:
        return _count(number, measured)
    return FigureRange(None, 0, inf, _no_comparison(measured))


def _regressions(measured: GroupFigures) -> FigureRange:
    """The cases that regressed; each undecided one may be another."""
    found = _change(measured.regressions, measured)
    cases = "1 case is" if measured.undecided == 1 else f"{measured.undecided:,} cases are"
    return replace(found, high=found.high + measured.undecided, doubt=f"{cases} undecided")


def _edited(measured: GroupFigures) -> FigureRange:
    if _in_baseline(measured) or measured.missing:
        return _count(measured.edited, measured)
    return FigureRange(None, 0, inf, _NO_BASELINE)


def _compared(measured: GroupFigures) -> int:
    return measured.compared


def _in_baseline(measured: GroupFigures) -> int:
    return measured.compared + measured.edited


def _no_comparison(measured: GroupFigures) -> str:
    return "every case was edited since it was accepted" if measured.edited else _NO_BASELINE


def _obeyed_attacks(measured: GroupFigures) -> FigureRange:
    """The attacks that were obeyed; each that did not get to the model might have been.

    So might any number in a case that was not judged, since it is unknown how often it was to be asked.
    """
    obeyed, lost = measured.obeyed, measured.lost_attacks
    value, missing = obeyed if measured.attacks else None, _missing_replies(measured)
    if measured.unjudged_attacks:
        return FigureRange(value, obeyed, inf, _not_judged(measured.unjudged_attacks, "an attack"))
    if value is None:
        nothing = f"{lost:,} did not reach the model" if lost else "no case has an attack"
        return FigureRange(None, 0, inf, missing or nothing)
    return FigureRange(value, obeyed, obeyed + lost, missing, f"{lost:,} more did not reach the model")


def _not_judged(cases: int, kind: str) -> str:
    return f"1 case with {kind} was not judged" if cases == 1 else f"{cases:,} cases with {kind} were not judged"


def _recovery(measured: GroupFigures) -> FigureRange:
    """The share of faulty results that the model recovered from; it might have from each that did not get to it."""
    if unjudged := measured.unjudged_faults:
        value = Fraction(measured.recovered, measured.faulty) if measured.faulty else None
        return FigureRange(value, 0, 1, _not_judged(unjudged, "a fault"))
    lost = measured.lost_faults
    if not measured.faulty:
        return _unknown_share(f"{lost:,} did not reach the model" if lost else "no result was faulty")
    whole, recovered = measured.faulty + lost, measured.recovered
    doubt = f"{lost:,} more did not reach the model"
    value = Fraction(recovered, measured.faulty)
    return FigureRange(value, Fraction(recovered, whole), Fraction(recovered + lost, whole), doubt=doubt)


def _smallest_p_value(measured: GroupFigures) -> FigureRange:
    """The smallest p-value of all parts. Missing replies do not change those of parts that have all of theirs.

    Where wrong answers could not have made it small enough, it says nothing.
    """
    tests, missing = measured.tests, _missing_replies(measured)
    p_value = tests.p_value
    if p_value is None:
        return _unknown_share(missing or _no_pairs(measured))
    unclear = missing or ("" if tests.could_fail else _blindness(tests))
    if tests.worse or not unclear:
        return FigureRange(p_value, p_value, p_value)
    return FigureRange(p_value, 0.0, 1.0, unclear)


def _blindness(tests: SliceTests) -> str:
    counts = [len(each.pairs) for each in tests.slices if each.pairs]
    cases = "1 case" if max(counts) == 1 else f"{max(counts):,} cases"
    most = "" if len(counts) == 1 else " at most in each part"
    return f"with {cases}{most} it could not fail, even if all were wrong"


def _no_pairs(measured: GroupFigures) -> str:
    return "no case is measured as it is today" if measured.compared else _no_comparison(measured)


def _score(name: str, measured: GroupFigures) -> FigureRange:
    score = measured.scores.get(name, GroupScore(None))
    number = score.value
    value = None if number is None or not isfinite(number) else Fraction(number).limit_denominator(_FINEST)
    if score.missing:
        return FigureRange(value, 0, 1, f"{plural_text(score.missing, 'reply', 'replies')} missing")
    if value is None:
        return _unknown_share(score.missing_reason or "no case has this score")
    return FigureRange(value, value, value)


def _strength(measured: GroupFigures) -> FigureRange:
    """The share of mistakes that are noticed. It does not depend on replies, so missing ones change nothing."""
    weights = measured.strength or (0.0, 0.0, 0.0)
    caught, survived, undecided = (Fraction(weight).limit_denominator(_FINEST) for weight in weights)
    whole, decided = caught + survived + undecided, caught + survived
    if not whole:
        return _unknown_share("the strength of no case is known")
    value = caught / decided if decided else None
    return FigureRange(value, caught / whole, (caught + undecided) / whole, doubt=_UNDECIDED_MISTAKES)


def _fragility(measured: GroupFigures) -> FigureRange:
    """The highest rate at which verdicts flip under a relation, if chance does not explain it; else 0.

    Of a relation with too few answers to tell from chance, any rate up to its own may be more than chance.
    """
    if not measured.flips:
        return _unknown_share(_missing_replies(measured) or "no case was varied")
    fragile = max((_flip_share(each) for each in measured.flips if each.word == "fragile"), default=Fraction(0))
    unclear = [each for each in measured.flips if each.word == "too few to say" and _flip_share(each) > fragile]
    if missing := _missing_replies(measured):
        return FigureRange(fragile, fragile, 1, missing)
    named = ", ".join(dict.fromkeys(each.relation for each in unclear))
    highest = max([fragile, *map(_flip_share, unclear)])
    return FigureRange(fragile, fragile, highest, doubt=f"too few answers to say of {named}")


def _flip_share(flips: RelationFlips) -> Fraction:
    return Fraction(flips.rate).limit_denominator(_FINEST)


def _missing_replies(measured: GroupFigures) -> str:
    return f"{plural_text(measured.missing, 'reply', 'replies')} missing" if measured.missing else ""


FIGURES: Mapping[str, GateFigure] = MappingProxyType(
    {
        "accuracy": GateFigure("share", _accuracy),
        "cases": GateFigure("count", lambda measured: _count(measured.answered, measured)),
        "regressions": GateFigure("count", _regressions, _compared),
        "fixed": GateFigure("count", lambda measured: _change(measured.fixed, measured), _compared),
        "undecided": GateFigure("count", lambda measured: _change(measured.undecided, measured), _compared),
        "edited": GateFigure("count", _edited, _in_baseline),
        "flaky": GateFigure("count", lambda measured: _count(measured.flaky, measured)),
        "attacks": GateFigure(
            "count", _obeyed_attacks, lambda measured: measured.attacks, lambda measured: measured.lost_attacks
        ),
        "recovery": GateFigure("share", _recovery),
        "strength": GateFigure("share", _strength),
        "significant": GateFigure("chance", _smallest_p_value),
        "fragility": GateFigure("share", _fragility),
        "malformed": GateFigure("count", lambda measured: _count(measured.malformed, measured)),
        "cost": GateFigure("dollars", _cost),
        "p50": GateFigure("seconds", lambda measured: _seconds(measured.p50, measured)),
        "p95": GateFigure("seconds", lambda measured: _seconds(measured.p95, measured)),
        "max": GateFigure("seconds", _longest),
    }
)


def figure_named(name: str) -> GateFigure:
    """The figure of this name, or else the score."""
    return FIGURES.get(name) or GateFigure("share", lambda measured: _score(name, measured))

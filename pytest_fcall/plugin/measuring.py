"""Results as gates want them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.figures import figures
from pytest_fcall.reporting.results import Result
from pytest_fcall.tracking.measured import Measured
from pytest_fcall.tracking.pairs import Pair, Rate

_RIGHT, _WRONG = Rate(1, 1), Rate(0, 1)

_PAIRS: Mapping[Outcome | None, Pair] = MappingProxyType(
    {
        Outcome.OK: Pair(_RIGHT, _RIGHT),
        Outcome.DRIFTED: Pair(_RIGHT, _RIGHT),
        Outcome.REGRESSED: Pair(_RIGHT, _WRONG),
        Outcome.FIXED: Pair(_WRONG, _RIGHT),
        Outcome.KNOWN_FAILURE: Pair(_WRONG, _WRONG),
    }
)
"""What each outcome says of before and now; a case that has no accepted answer has no before."""


def measured(results: Iterable[Result], scope: Sequence[str] = ()) -> Measured:
    """Measure the results that have each name in `scope`."""
    chosen = within(results, scope)
    counted = figures(chosen)
    return Measured(
        answered=counted.answered,
        right=counted.right,
        missing=sum(result.no_reply for result in chosen),
        malformed=sum(any(kind == "malformed" for kind, _ in result.reasons) for result in chosen),
        cost=counted.cost,
        unpriced=counted.unpriced,
        p50=counted.p50,
        p95=counted.p95,
        slowest=counted.slowest,
        regressions=sum(result.outcome is Outcome.REGRESSED for result in chosen),
        fixed=sum(result.outcome is Outcome.FIXED for result in chosen),
        flaky=sum(result.flaky for result in chosen),
        pairs=tuple(pair for result in chosen if (pair := _pair(result))),
    )


def within(results: Iterable[Result], scope: Sequence[str]) -> list[Result]:
    """Those that have each name in `scope` as category, tag, suite or model, or have a score under that name."""
    return [result for result in results if _names(result).issuperset(scope)]


def _pair(result: Result) -> Pair | None:
    """Before and now, as rates where a case was asked several times; None where there is no before."""
    known = _PAIRS.get(result.outcome)
    if known is None or result.before is None or not (result.samples or result.before[1] > 1):
        return known
    return Pair(Rate(*result.before), Rate(*result.samples) if result.samples else known.now)


def _names(result: Result) -> set[str]:
    return {result.category, result.model, result.suite, *result.tags, *(each.tag for each in result.scores)}

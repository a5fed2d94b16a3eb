"""Results as gates want them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_fcall.reporting.figures import figures
from pytest_fcall.reporting.results import Result
from pytest_fcall.tracking.measured import Measured


def measured(results: Iterable[Result], scope: Sequence[str] = ()) -> Measured:
    """Measure the results that have each name in `scope` as category, tag or model."""
    chosen = [result for result in results if _names(result).issuperset(scope)]
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
    )


def _names(result: Result) -> set[str]:
    return {result.category, result.model, *result.tags}

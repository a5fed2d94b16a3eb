"""What changed against the baseline, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.columns import head
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe import safe_line

_LISTED = 10
_TO_ACCEPT = (Outcome.FIXED, Outcome.NEW, Outcome.DRIFTED)


def outcome_lines(results: Sequence[Result], width: int, *, accepted: bool = False) -> list[str]:
    """The regressions one by one, then how many cases wait to be accepted, unless they are `accepted` already.

    Nothing without a baseline.
    """
    regressed = of_outcome(results, Outcome.REGRESSED)
    several = len({result.model for result in results}) > 1
    lines = [f"{len(regressed):,} regressed:"] if regressed else []
    lines += [head(f"  {_regression(result, several)}", width) for result in regressed[:_LISTED]]
    if len(regressed) > _LISTED:
        lines.append(f"  and {len(regressed) - _LISTED:,} more")
    return lines if accepted else [*lines, *_waiting(results)]


def of_outcome(results: Sequence[Result], outcome: Outcome) -> list[Result]:
    """The results that have it."""
    return [result for result in results if result.outcome is outcome]


def _regression(result: Result, several: bool) -> str:
    model = f" ({safe_line(result.model)})" if several else ""
    since = f": {safe_line('; '.join(result.since))}" if result.since else ""
    return f"{safe_line(result.file)}:{result.line} {safe_line(result.case)}{model}{since}"


def _waiting(results: Sequence[Result]) -> Iterator[str]:
    """Right answers that the baseline does not have so."""
    right = [result for result in results if result.right]
    counts = {outcome: len(of_outcome(right, outcome)) for outcome in _TO_ACCEPT}
    if told := [f"{count:,} {outcome.value}" for outcome, count in counts.items() if count]:
        yield f"not in the baseline: {', '.join(told)}; `fcall accept` accepts what is right"

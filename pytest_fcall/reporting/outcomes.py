"""What changed against the baseline, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.columns import head
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe import safe_line

_LISTED = 10
_NAMED = 3
"""So many are listed of those that are right."""
_INSIDE = "with other requests inside the app"
_TO_ACCEPT = (Outcome.FIXED, Outcome.NEW, Outcome.DRIFTED)


def outcome_lines(results: Sequence[Result], width: int, *, accepted: bool = False) -> list[str]:
    """The regressions one by one, then what waits to be accepted, unless it is `accepted` already.

    Nothing without a baseline.
    """
    several = len({result.model for result in results}) > 1
    regressed, otherwise = of_outcome(results, Outcome.REGRESSED), _asking_otherwise(results)
    lines = [f"{len(regressed):,} regressed:"] if regressed else []
    lines += _listed(regressed, _LISTED, several, width)
    if accepted:
        return lines
    lines += [f"{len(otherwise):,} ok, {_INSIDE}:"] if otherwise else []
    return [*lines, *_listed(otherwise, _NAMED, several, width), *_waiting(results)]


def of_outcome(results: Sequence[Result], outcome: Outcome) -> list[Result]:
    """The results that have it."""
    return [result for result in results if result.outcome is outcome]


def _asking_otherwise(results: Sequence[Result]) -> list[Result]:
    """Those of apps that come to the same by other requests: of what is ok, nothing else can have changed."""
    return [result for result in of_outcome(results, Outcome.OK) if result.since]


def _listed(results: Sequence[Result], most: int, several: bool, width: int) -> Iterator[str]:
    for result in results[:most]:
        yield head(f"  {_named(result, several)}", width)
    if len(results) > most:
        yield f"  and {len(results) - most:,} more"


def _named(result: Result, several: bool) -> str:
    model = f" ({safe_line(result.model)})" if several else ""
    since = f": {safe_line('; '.join(result.since))}" if result.since else ""
    return f"{safe_line(result.file)}:{result.line} {safe_line(result.case)}{model}{since}"


def _waiting(results: Sequence[Result]) -> Iterator[str]:
    """Right answers that the baseline does not have so."""
    right = [result for result in results if result.right]
    counts = {outcome.value: len(of_outcome(right, outcome)) for outcome in _TO_ACCEPT}
    counts[_INSIDE] = len(_asking_otherwise(right))
    if told := [f"{count:,} {what}" for what, count in counts.items() if count]:
        yield f"not in the baseline: {', '.join(told)}; `fcall accept` accepts what is right"

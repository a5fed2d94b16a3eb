"""The lines on cases that could not be judged; where no recorded reply fits, each cause once, and what mends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.results import Results
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.statistics import statistics_of

_MAX_CAUSES = 5


def missing_lines(results: Results, *, short: bool = False) -> Iterator[str]:
    """The changes since replies were recorded, with the number of cases, and the commands that ask for the missing.

    The short form leaves the causes out.
    """
    missing = Counter(results.missing)
    if not missing:
        return
    models = dict.fromkeys(reply.model for reply in missing)
    of = f" of {safe_line(next(iter(models)))}" if len(models) == 1 else ""
    yield f"{plural_text(missing.total(), 'case')} not judged: no recorded reply{of} fits"
    if not short:
        causes: Counter[str] = Counter()
        for reply, count in missing.items():
            causes[reply.cause] += count
        yield from _cause_lines(causes)
    for command in dict.fromkeys(reply.command for reply in missing):
        yield f"to ask for what is missing: {safe_line(command)}"
    if not results.missing_excused:
        yield "without these the run is at best inconclusive (exit status 10), unless fc_missing = skip"


def unjudged_lines(results: Results) -> Iterator[str]:
    """The cases without a verdict, and why: errors, cases without a reply, and those that no recorded reply fits."""
    if errors := statistics_of(results.results).errors - results.unanswered:
        yield f"{plural_text(errors, 'error')}: a mistake in a case, a tool or an app"
    if results.unanswered:
        yield f"{plural_text(results.unanswered, 'case')} without a reply (not counted for the model)"
    yield from missing_lines(results)


def _cause_lines(causes: Counter[str]) -> Iterator[str]:
    for cause, count in causes.most_common(_MAX_CAUSES):
        head, *details = map(safe_line, cause.splitlines())
        yield f"  {head}" if len(causes) == 1 else f"  {plural_text(count, 'case')}: {head}"
        yield from (f"  {line}" for line in details)
    if (left := len(causes) - _MAX_CAUSES) > 0:
        yield f"  and {plural_text(left, 'other cause')}; `pytest -rs` lists them case by case"

"""The answers of a run: how many the model gave, how many were replayed and how old those are, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.results import Results
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.statistics import statistics_of

_UNITS: Final = (("days", 86_400), ("hours", 3_600), ("minutes", 60))
_MAX_CAUSES = 5


def origin_text(results: Results) -> str:
    """Write `31 asked`, `25 asked, 6 replayed (2 to 9 days old)` or `all 31 replayed (3 days old)`.

    Samples count one by one. The text is empty where nothing was answered.
    """
    answered = [result for result in results.results if result.answered]
    asked, replayed = sum(result.asked for result in answered), sum(result.replays for result in answered)
    ages = f" ({text})" if (text := _ages_text(results)) else ""
    if not replayed:
        return f"{asked:,} asked{f', in part replayed{ages}' if ages else ''}" if asked else ""
    every = "all " if not asked and replayed > 1 else ""
    return ", ".join([*([f"{asked:,} asked"] if asked else []), f"{every}{replayed:,} replayed{ages}"])


def is_asked(results: Results) -> bool:
    """Whether any answer was asked for in the run; one of a version that did not note it counts as such."""
    return any(result.asked for result in results.results) or not any(result.replays for result in results.results)


def _ages_text(results: Results) -> str:
    """Write how old the replies were that were replayed, oldest and newest; nothing where none was, or none has an age.

    Runs of earlier versions only know the oldest.
    """
    if results.oldest_reply is None:
        return "of unknown age" if results.undated_replies else ""
    newest = results.oldest_reply if results.newest_reply is None else results.newest_reply
    (first, unit), (last, last_unit) = _age(newest), _age(results.oldest_reply)
    since = "" if (first, unit) == (last, last_unit) else f"{first} to " if unit == last_unit else f"{first} {unit} to "
    return f"{since}{last} {last_unit} old{', some of unknown age' if results.undated_replies else ''}"


def _age(seconds: float) -> tuple[str, str]:
    """The age in whole units, of the largest unit that it has at least two of."""
    for unit, length in _UNITS:
        if seconds >= 2 * length:
            return f"{int(seconds // length)}", unit
    return "under 2", "minutes"


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

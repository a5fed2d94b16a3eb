"""The pairs that the page compares: two models of the run, or an earlier run and this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_fcall.core import Json
from pytest_fcall.reporting.reports.page.packing import packed
from pytest_fcall.reporting.reports.report import ComparedRun, EarlierAnswer, Report
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_comparison import ComparedGroup, change_text, conclusion_text, unpaired_lines
from pytest_fcall.reporting.safe_text import safe_line, whole_line
from pytest_fcall.reporting.value_text import call_text

_LONGEST: Final = 5_000


def pairs_data(report: Report, models: Sequence[str]) -> list[Json]:
    """Each pair, with its paired test in words. Models are named by their places in `models`."""
    pairs: list[Json] = [
        {"models": [models.index(pair.before), models.index(pair.now)], "words": [_words("", pair.group)]}
        for pair in report.models_compared
    ]
    return [*pairs, *(_run_data(run, report.results.results) for run in report.runs_compared)]


def _run_data(run: ComparedRun, results: Sequence[Result]) -> Json:
    """The run with its answers in the order of this run's results."""
    found, several = run.comparison, len(run.comparison.models) > 1
    return {
        "run": safe_line(run.id),
        "started": safe_line(run.started),
        "title": whole_line(found.before),
        "words": [_words(group.model if several else "", group) for group in found.models],
        "notes": [*unpaired_lines(found)],
        "rows": packed([_answer(run.answers.get(result.nodeid)) for result in results]),
    }


def _words(model: str, group: ComparedGroup) -> list[str]:
    return [safe_line(model), conclusion_text(group), change_text(group)]


def _answer(answer: EarlierAnswer | None) -> Json:
    """Whether it was right, its calls where they differ, and whether the case was another one; 0 for no pair."""
    if answer is None:
        return 0
    calls = 0 if answer.calls is None else [call_text(call, _LONGEST) for call in answer.calls]
    return [int(answer.right), calls, 1] if answer.was_edited else [int(answer.right), calls]

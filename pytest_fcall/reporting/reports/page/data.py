"""The data for the script of the page: a row for each result, and in packed portions what was asked and answered."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_fcall.core import Json, Tool
from pytest_fcall.reporting.reports.page.case_detail import definition_text, detail_of
from pytest_fcall.reporting.reports.page.packing import packed
from pytest_fcall.reporting.reports.page.pairs import pairs_data
from pytest_fcall.reporting.reports.page.source_links import source_prefix
from pytest_fcall.reporting.reports.report import EarlierRun, Report
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe, safe_line
from pytest_fcall.reporting.statistics import token_count

_PORTION: Final = 200
"""So many cases are packed together; a browser unpacks those that somebody opens."""
_LONGEST_TOOL: Final = 20_000


def data_of(report: Report) -> str:
    """The data as JSON that may stand in a page: it ends no element."""
    results = report.results.results
    models = [*dict.fromkeys(result.model for result in results)]
    answers = _Answers(several=len(models) > 1)
    portions = [*_portions(report, answers)]
    places = {model: place for place, model in enumerate(models)}
    data: dict[str, Json] = {
        "run": safe_line(report.id),
        "models": [safe_line(model) for model in models],
        "named": [safe_line(model) for model in report.models],
        "earlier": [safe_line(run.started) for run in report.earlier],
        "rows": [
            _row(result, places, report.earlier, number)
            for result, number in zip(results, answers.numbers, strict=True)
        ],
        "portion": _PORTION,
        "packed": portions,
        "tools": packed(_tools(report)),
        "source": source_prefix(report.provenance),
        "pairs": pairs_data(report, models),
    }
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _tools(report: Report) -> Json:
    """Each definition once, and the sets by the places of their tools among them."""
    known: dict[tuple[str, str], int] = {}
    sets: dict[str, Json] = {
        name: [known.setdefault(_definition(tool), len(known)) for tool in tools]
        for name, tools in report.offered.items()
    }
    return {"definitions": [*known], "sets": sets}


def _definition(tool: Tool) -> tuple[str, str]:
    return safe_line(tool.name), safe(definition_text(tool), _LONGEST_TOOL)


class _Answers:
    """Numbers the answers to each case, so that models that made the same calls have the same number."""

    def __init__(self, *, several: bool) -> None:
        self._several = several
        self._known: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        self.numbers: list[int] = []

    def add(self, result: Result, detail: Mapping[str, Any]) -> None:
        """Number the answer that stands for the result. A single model has nobody to differ from."""
        if not self._several:
            self.numbers.append(0)
            return
        answers, place = detail.get("answers", ()), detail.get("shown", 0)
        steps = answers[place].get("steps", ()) if 0 <= place < len(answers) else ()
        calls = json.dumps([step.get("calls") for step in steps])
        known = self._known[result.file, result.case]
        self.numbers.append(known.setdefault(calls, len(known)))


def _portions(report: Report, answers: _Answers) -> Iterator[str]:
    results = report.results.results
    for start in range(0, len(results), _PORTION):
        portion = []
        for result in results[start : start + _PORTION]:
            portion.append(detail_of(result, report))
            answers.add(result, portion[-1])
        yield packed(portion)


def _row(result: Result, models: Mapping[str, int], earlier: Sequence[EarlierRun], answer: int) -> list[Json]:
    """The fields in the order in which the script names them."""
    right, asked = result.samples or (int(result.right), 1)
    return [
        safe_line(result.case),
        models[result.model],
        safe_line(result.file),
        result.line,
        result.status,
        result.outcome.value if result.outcome else "",
        safe_line(result.category),
        [safe_line(tag) for tag in result.tags],
        [*dict.fromkeys(safe_line(kind) for kind, _ in result.reasons)],
        [*dict.fromkeys(safe_line(name) for pair in result.called for name in pair if name)],
        result.seconds,
        result.cost,
        token_count(result.usage),
        [right, asked] if result.answered else None,
        [*result.before] if result.before else None,
        "".join(_letter(run, result) for run in earlier),
        answer,
        _node(result),
    ]


def _node(result: Result) -> Json:
    """The node id where the other fields do not say it; 1 where the model stands behind the case."""
    own = f"{result.file}::{result.case}"
    known: dict[str, Json] = {own: "", f"{own}[{result.model}]": 1}
    return known.get(result.nodeid, safe_line(result.nodeid))


def _letter(run: EarlierRun, result: Result) -> str:
    """The end of the case in a run before: right, wrong, error, skipped; a dot where it was not part of it."""
    found = run.results.get(result.nodeid)
    letters = {"passed": "r", "xpassed": "r", "failed": "w", "xfailed": "w", "error": "e", "skipped": "s"}
    return letters[found.status] if found else "."

"""The page of a run: its overview, and the data for its script."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

from markupsafe import Markup

from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.answer_lines import unjudged_lines
from pytest_fcall.reporting.reports.html_file import STYLE, HtmlFile, pack_data, script_data
from pytest_fcall.reporting.reports.page import overview
from pytest_fcall.reporting.reports.page.case_detail import definition_text, detail_of
from pytest_fcall.reporting.reports.report import ComparedRun, EarlierAnswer, EarlierRun, Report
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_comparison import ComparedGroup, change_text, conclusion_text, unpaired_lines
from pytest_fcall.reporting.safe_text import safe, safe_line, whole_line
from pytest_fcall.reporting.statistics import statistics_of, token_count
from pytest_fcall.reporting.tampered_results import attack_titles, recovery_titles
from pytest_fcall.reporting.value_text import call_text

_FOLDER: Final = Path(__file__).parent
_LINE: Final = 200
"""The most characters of a line in a list."""
_SCRIPTS: Final = ("elements.js", "cases.js", "case.js", "compare.js", "views.js")
"""In the order in which they use each other: together they are the one script of the page."""
_PORTION: Final = 200
"""So many cases are packed together; a browser unpacks those that somebody opens."""
_LONGEST_TOOL: Final = 20_000
_LONGEST_CALL: Final = 5_000

_WEB: Final = re.compile(r"https?://[A-Za-z0-9.-]+(:\d+)?/[A-Za-z0-9%._~+@/-]+")
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
_GITHUB: Final = ("blob", "#L")
_FORMS: Final[Mapping[str, tuple[str, str]]] = {
    "gitlab": ("-/blob", "#L"),
    "bitbucket": ("src", "#lines-"),
    "gitea": ("src/commit", "#L"),
    "forgejo": ("src/commit", "#L"),
    "codeberg": ("src/commit", "#L"),
}
"""By a part of the host, what stands before the commit and before the line. All others are taken for GitHub's."""


def write(report: Report) -> Iterator[str]:
    """The text of the page."""
    tools, heat = overview.confusion(report)
    counted = statistics_of(report.results.results)
    yield from HtmlFile(_FOLDER / "report.html.jinja", [STYLE], [_FOLDER / name for name in _SCRIPTS]).text(
        report=report,
        title=f"fcall: {report.title}",
        started=safe_line(report.started.replace("T", " ")[:16]),
        models=[safe_line(model) for model in report.models],
        right=counted.right,
        answered=counted.answered,
        results=len(report.results.results),
        sentences=[safe_line(sentence) for sentence in report.sentences],
        unjudged_gates=safe_line(report.unjudged),
        gates=overview.gate_rows(report),
        changes=overview.changes(report),
        stale=overview.stale(report),
        causes=overview.causes(report),
        groups=overview.group_rows(report),
        radar=Markup(overview.radar_chart(report)),  # noqa: S704  # its labels are escaped
        tools=tools,
        heat=heat,
        attacks=overview.attack_rows(report),
        recoveries=overview.recovery_rows(report),
        recovery_titles=recovery_titles(report.results.results),
        attack_titles=[line.strip() for line in attack_titles(report.results.results)],
        distributions=[(title, Markup(chart)) for title, chart in overview.distributions(report)],  # noqa: S704
        varied=overview.variant_rates(report),
        unjudged=list(unjudged_lines(report.results)),
        provenance=[(safe_line(name), safe_line(str(value))) for name, value in report.provenance.items()],
        compares=bool(report.models_compared or report.runs_compared),
        data=data_of(report),
    )


def data_of(report: Report) -> Markup:
    """A row for each result, and in packed portions what was asked and answered."""
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
        "tools": pack_data(_tools(report)),
        "source": source_prefix(report.provenance),
        "pairs": _pairs(report, models),
    }
    return script_data(data)


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
        yield pack_data(portion)


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


def _pairs(report: Report, models: Sequence[str]) -> list[Json]:
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
        "rows": pack_data([_answer(run.answers.get(result.nodeid)) for result in results]),
    }


def _words(model: str, group: ComparedGroup) -> list[str]:
    return [safe_line(model), conclusion_text(group), change_text(group)]


def _answer(answer: EarlierAnswer | None) -> Json:
    """Whether it was right, its calls where they differ, and whether the case was another one; 0 for no pair."""
    if answer is None:
        return 0
    calls = 0 if answer.calls is None else [call_text(call, _LONGEST_CALL) for call in answer.calls]
    return [int(answer.right), calls, 1] if answer.was_edited else [int(answer.right), calls]


def source_prefix(provenance: Mapping[str, Json]) -> tuple[str, str, str] | None:
    """The parts of a link before the path of a file and before a line in it, and the host; None where unknown.

    A run file may come from anywhere: nothing but an address of the web is taken from it.
    """
    remote, commit, folder = (provenance.get(name) for name in ("remote", "commit", "folder"))
    if not isinstance(remote, str) or not isinstance(commit, str):
        return None
    if not _WEB.fullmatch(remote) or not _COMMIT.fullmatch(commit):
        return None
    host = urlsplit(remote).hostname or ""
    path, line = next((form for name, form in _FORMS.items() if name in host), _GITHUB)
    inside = f"{quote(folder, errors='replace')}/" if isinstance(folder, str) and folder else ""
    return f"{remote}/{path}/{commit}/{inside}", line, host

"""The figures of the overview, as plain values for its template."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import Final, NamedTuple

from markupsafe import Markup

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.verdict import Outcome
from pytest_fcall.reporting.fragility import TITLES, ModelFlips, flipped_text
from pytest_fcall.reporting.gates import figure_text, verdict_word
from pytest_fcall.reporting.number_text import accuracy_text, cost_text, interval_text, points_text, seconds_text
from pytest_fcall.reporting.reports.page.charts import ChartSeries, bar, histogram, radar
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_table import models_of, of_model
from pytest_fcall.reporting.safe_text import safe_line, whole_line
from pytest_fcall.reporting.statistics import (
    FailingGroup,
    accuracy_change,
    failing_groups,
    shared_causes,
    statistics_of,
    wilson_interval,
)
from pytest_fcall.reporting.tampered_results import attack_rates, recovery_rates
from pytest_fcall.reporting.tool_confusion import confusion_counts, most_confused

_CHANGES: Final = (
    Outcome.REGRESSED,
    Outcome.UNDECIDED,
    Outcome.FLAKY,
    Outcome.FIXED,
    Outcome.DRIFTED,
    Outcome.NEW,
    Outcome.EDITED,
)
_MOST_CASES: Final = 50
"""So many cases of an outcome are listed without the script."""
_MOST_TOOLS: Final = 15
_MOST_GROUPS: Final = 8
_CHANGED_WORDS: Final = re.compile(r"\[-(.*?)-\]|\{\+(.*?)\+\}")


class GateRow(NamedTuple):
    """A gate and what became of it."""

    text: str
    figure: str
    word: str
    note: str


class CaseLink(NamedTuple):
    """A case with what is wrong or has changed, and its place among all results."""

    place: int
    where: str
    case: str
    model: str
    what: str


class OutcomeGroup(NamedTuple):
    """The cases with one outcome, or that failed without one."""

    name: str
    number: int
    cases: Sequence[CaseLink]
    query: str
    """The view of the script that shows all of them."""


class GroupRow(NamedTuple):
    """The figures of a model, or of one of its categories."""

    model: str
    place: int
    group: str
    is_whole: bool
    right: str
    accuracy: str
    interval: str
    bar: str
    change: str
    errors: str
    cost: str
    p50: str
    p95: str


class HeatRow(NamedTuple):
    """The number of calls of each tool for the one that was expected, with the shade of each cell from 0 to 5."""

    expected: str
    cells: Sequence[tuple[str, int, bool]]


class ToolRow(NamedTuple):
    """The rate of one kind of event in the results of one tool: attacks obeyed, or faults recovered from."""

    tool: str
    is_first: bool
    kind: str
    counted: str
    share: str
    interval: str


def gate_rows(report: Report) -> list[GateRow]:
    """The gates, those first that do not hold."""
    return [
        GateRow(
            safe_line(gate.text),
            figure_text(gate.kind, gate.figure, gate.bound),
            verdict_word(gate),
            safe_line(gate.note),
        )
        for gate in report.gates_by_weight
    ]


def changes(report: Report) -> list[OutcomeGroup]:
    """The changes against the baseline, the weightiest first, and the other failures."""
    groups = [(outcome.value, report.with_outcome(outcome), f"outcome={outcome.value}") for outcome in _CHANGES]
    groups.insert(2, ("failed", report.other_failures, "status=failed"))
    known = report.known_failures
    groups.append(("known failure" if len(known) == 1 else "known failures", known, "status=xfailed"))
    places = {id(result): place for place, result in enumerate(report.results.results)}
    return [
        OutcomeGroup(name, len(found), [_link(each, places[id(each)], report) for each in found[:_MOST_CASES]], query)
        for name, found, query in groups
        if found
    ]


def _link(result: Result, place: int, report: Report) -> CaseLink:
    model = safe_line(result.model) if len(report.models) > 1 else ""
    return CaseLink(
        place, safe_line(f"{result.file}:{result.line}"), safe_line(result.case), model, safe_line(report.why(result))
    )


def causes(report: Report) -> list[Markup]:
    """The common causes of changes and failures, in sentences, with changed words marked."""
    results = report.results.results
    changed = Counter(cause for result in results for cause in result.causes)
    found = [
        f"changed since the baseline: {whole_line(cause)} ({plural_text(count, 'case')})"
        for cause, count in changed.most_common()
    ]
    for each in shared_causes(results):
        place = f" at {safe_line(each.place)}" if each.place else ""
        found.append(f"{plural_text(len(each.failures), 'failure')}: {safe_line(each.kind)}{place}")
    found += map(_group_line, failing_groups(results)[:_MOST_GROUPS])
    return [_marked(each) for each in found]


def _group_line(group: FailingGroup) -> str:
    cases = "that expect" if group.kind == "tool" else "with the tag"
    return (
        f"{group.wrong:,} of {group.answered:,} {cases} {safe_line(group.name)} are wrong, "
        f"{group.others_wrong:,} of the other {group.others_answered:,}"
    )


def stale(report: Report) -> list[tuple[str, str]]:
    """The case and the baseline of each accepted answer whose case is gone."""
    return [(safe_line(case), safe_line(path)) for path, case in report.results.stale[:_MOST_CASES]]


def _marked(text: str) -> Markup:
    """The text with its `[-gone-]{+new+}` words marked."""
    pieces = _CHANGED_WORDS.split(text)  # text, gone or None, new or None, text, and so on
    marked = [
        Markup("<{0}>{1}</{0}>").format("ins" if gone is None else "del", new if gone is None else gone)
        for gone, new in zip(pieces[1::3], pieces[2::3], strict=True)
    ]
    return Markup("").join(chain.from_iterable(zip_longest(pieces[::3], marked, fillvalue="")))


def group_rows(report: Report) -> list[GroupRow]:
    """The figures of each model, and of its categories."""
    return [row for place, model in enumerate(_models(report)) for row in _model_rows(report, model, place)]


def _models(report: Report) -> list[str]:
    return models_of(report.results.results)


def _model_rows(report: Report, model: str, place: int) -> Iterator[GroupRow]:
    own = of_model(model, report.results.results)
    yield _group_row(model, place, "all", own, is_whole=True)
    categories = dict.fromkeys(result.category for result in own)
    if len(categories) > 1:
        for category in categories:
            of_category = [each for each in own if each.category == category]
            yield _group_row(model, place, category, of_category, is_whole=False)


def _group_row(model: str, place: int, name: str, results: Sequence[Result], *, is_whole: bool) -> GroupRow:
    group = statistics_of(results)
    low, high = wilson_interval(group.right, group.answered)
    change = accuracy_change(results)
    return GroupRow(
        model=safe_line(model),
        place=place,
        group=safe_line(name),
        is_whole=is_whole,
        right=f"{group.right:,}/{group.answered:,}",
        accuracy=accuracy_text(group.right, group.answered) if group.answered else "",
        interval=interval_text(group.right, group.answered) if group.answered else "",
        bar=bar(group.right / group.answered, low, high, place) if group.answered else "",
        change="" if change is None else points_text(change),
        errors=f"{group.errors:,}" if group.errors else "",
        cost=cost_text(group.cost, group.unpriced),
        p50=seconds_text(group.p50),
        p95=seconds_text(group.p95),
    )


class VariedModel(NamedTuple):
    """The variants of the cases of one model."""

    name: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    lines: Sequence[str]
    """The changes since the baseline, and the cases that a relation does not fit."""
    flipped: Sequence[tuple[str, str]]
    """The variants whose verdict is another than that of their case, with what is different in them."""


def variant_rates(report: Report) -> list[VariedModel]:
    """The rates at which verdicts flip in variants, for each model."""
    return [_varied_model(each, of_model(each.model, report.results.results)) for each in report.varied]


def _varied_model(flips: ModelFlips, results: Sequence[Result]) -> VariedModel:
    changes = [f"since the baseline: {change.text}" for change in flips.changes if change.is_certain]
    found = (
        (result, variant) for result in results for variant in (result.variants.flipped if result.variants else ())
    )
    return VariedModel(
        safe_line(flips.model),
        ("relation", "finding", *TITLES[2:]),
        [row.texts for row in flips.rows],
        [*changes, *flips.unfit_lines],
        [(flipped_text(result, variant), safe_line(variant.difference)) for result, variant in found],
    )


def radar_chart(report: Report) -> str:
    """The accuracy of each model by category; empty for fewer than three categories that all answered."""
    results = [result for result in report.results.results if result.answered and result.model]
    categories = [*dict.fromkeys(result.category for result in results)]
    series = [
        ChartSeries(
            safe_line(model),
            [_accuracy([r for r in of_model(model, results) if r.category == name]) for name in categories],
        )
        for model in _models(report)
    ]
    return radar([safe_line(name) for name in categories], series)


def _accuracy(results: Sequence[Result]) -> float | None:
    group = statistics_of(results)
    return group.right / group.answered if group.answered else None


def confusion(report: Report) -> tuple[list[str], list[HeatRow]]:
    """The tools that were confused most, and how often each was called for each; empty where none was."""
    counts = confusion_counts(report.results.results)
    names = most_confused(counts, _MOST_TOOLS)
    if not names:
        return [], []
    most = max(counts.values())
    columns = [*names, ""]
    rows = [
        HeatRow(
            safe_line(expected) or "(none)",
            [
                (
                    f"{counts[expected, called]:,}" if counts[expected, called] else "",
                    _shade(counts[expected, called], most),
                    expected == called,
                )
                for called in columns
            ],
        )
        for expected in columns
    ]
    return [safe_line(name) or "(none)" for name in columns], rows


def _shade(count: int, most: int) -> int:
    return 0 if not count else 1 + min(4 * count // most, 4)


def attack_rows(report: Report) -> list[ToolRow]:
    """The rates at which all models together obeyed attacks, by tool and form."""
    return _tool_rows(attack_rates(report.results.results))


def recovery_rows(report: Report) -> list[ToolRow]:
    """The rates at which all models together recovered from faulty results, by tool and kind."""
    return _tool_rows(recovery_rates(report.results.results))


def _tool_rows(rates: Sequence[tuple[str, str, int, int]]) -> list[ToolRow]:
    """Rows of tools and kinds with how often it came about, and of how many."""
    return [
        ToolRow(
            safe_line(tool) or "(unnamed)",
            not place or rates[place - 1][0] != tool,
            safe_line(kind),
            f"{count:,}/{whole:,}",
            accuracy_text(count, whole),
            interval_text(count, whole),
        )
        for place, (tool, kind, count, whole) in enumerate(rates)
    ]


def distributions(report: Report) -> list[tuple[str, str]]:
    """Titles and charts of times and costs."""
    answers = [result for result in report.results.results if result.answered]
    seconds = {model: [r.seconds for r in of_model(model, answers) if r.seconds] for model in _models(report)}
    costs = {model: [r.cost for r in of_model(model, answers) if r.cost] for model in _models(report)}
    charts = [
        ("seconds a case", histogram(seconds, "Seconds a case")),
        ("US dollars a case", histogram(costs, "US dollars a case")),
    ]
    return [(title, chart) for title, chart in charts if chart]

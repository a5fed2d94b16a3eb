"""A report in Markdown, for the summary of a job and for a comment on a pull request: at most 60 lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from pytest_fcall.core.message_text import list_text, plural_text
from pytest_fcall.core.verdict import Outcome
from pytest_fcall.reporting.answer_lines import unjudged_lines
from pytest_fcall.reporting.gates import figure_text, verdict_word
from pytest_fcall.reporting.number_text import accuracy_text, cost_text, interval_text, points_text, seconds_text
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_table import models_of, of_model
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.statistics import accuracy_change, shared_causes, statistics_of
from pytest_fcall.reporting.tampered_results import attack_lines, recovery_lines
from pytest_fcall.reporting.tool_confusion import confusion_counts, mixed_up_pairs

MARKER: Final = "<!-- pytest-fcall -->"
"""The first line, by which a comment is found again that is to be replaced."""

_SIGNS: Final = {0: "✅", 1: "❌", 10: "❔"}
_MOST_WRONG: Final = 5
"""So many cases are named that are wrong."""
_MOST_FIXED: Final = 20
_MOST_KNOWN: Final = 10
_MOST_GATES: Final = 4
_MOST_CAUSES: Final = 2
_MOST_ROWS: Final = 6
_MOST_FOLDED_ROWS: Final = 2
_MOST_MISSING: Final = 2
_MOST_ERRORS: Final = 10
_MOST_ATTACK_LINES: Final = 4
_CUT: Final = 160
_MOST_OF_CAUSE: Final = 1000
_TABLE_HEAD: Final = (
    "| model | cases | right | accuracy | since | errors | cost | p50 | p95 |",
    "|---|---|---|---|---|---|---|---|---|",
)
_CHANGES: Final = (Outcome.REGRESSED, Outcome.UNDECIDED, Outcome.FIXED, Outcome.DRIFTED, Outcome.NEW, Outcome.EDITED)
_WRONG: Final = (Outcome.REGRESSED, Outcome.UNDECIDED)
_SPECIAL: Final = re.compile(r"[\\`*_\[\]<>#|~@&$!]|:(?=//|\w+:)|(?<=www)\.")
"""The signs that Markdown, HTML or GitHub would read: emphasis, links, mentions, issues, formulas and emoji."""


def write(report: Report) -> Iterator[str]:
    """The lines of the report."""
    yield from (f"{line}\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    yield MARKER
    yield f"### {_SIGNS.get(report.status, '❌')} fcall: {report.title}"
    yield ""
    yield " ".join(map(inline, report.sentences))
    yield ""
    yield from _gate_lines(report)
    yield from _changes(report)
    yield from _causes(report.results.results)
    yield from _table(report.results.results)
    yield from _confusions(report.results.results)
    yield from _attacks(report.results.results)
    yield from _recoveries(report.results.results)
    yield from _variants(report)
    yield from _unjudged(report)
    yield f"<sub>{_origin(report)}</sub>"


def _gate_lines(report: Report) -> Iterator[str]:
    if report.unjudged and report.data.get("gates"):
        yield f"Gates are not judged: {inline(report.unjudged)}."
        yield ""
    if not report.gates:
        return
    yield "| gate | now | |"
    yield "|---|---|---|"
    order = report.gates_by_weight
    for gate in order[:_MOST_GATES]:
        word = verdict_word(gate) if gate.held else f"**{verdict_word(gate)}**"
        note = f": {inline(gate.note)}" if gate.note else ""
        yield f"| {code(gate.text)} | {figure_text(gate.kind, gate.figure, gate.bound)} | {word}{note} |"
    if (more := len(order) - _MOST_GATES) > 0:
        yield f"| {plural_text(more, 'more gate')} | | |"
    yield ""


def _changes(report: Report) -> Iterator[str]:
    """The changes since the baseline, and the wrong answers: first those that regressed, and that may have."""
    counts = {outcome: len(report.with_outcome(outcome)) for outcome in _CHANGES}
    wrong = [
        *report.with_outcome(Outcome.REGRESSED),
        *report.with_outcome(Outcome.UNDECIDED),
        *report.other_failures,
    ]
    changed = [f"{count:,} {outcome.value}" for outcome, count in counts.items() if count]
    if changed := [*changed, *([f"{len(gone):,} stale"] if (gone := report.results.stale) else [])]:
        yield f"**Since the baseline**: {', '.join(changed)}"
        yield ""
    yield from (f"- {_case_line(result, report)}" for result in wrong[:_MOST_WRONG])
    if (more := len(wrong) - _MOST_WRONG) > 0:
        yield f"- and {more:,} more"
    if counts[Outcome.FIXED]:
        names = [code(result.case) for result in report.with_outcome(Outcome.FIXED)]
        yield f"<details><summary>{len(names):,} fixed</summary>{list_text(names, _MOST_FIXED)}</details>"
    if known := report.known_failures:
        yield _known_failures_line(known, report)
    yield from [""] if wrong or known or counts[Outcome.FIXED] else []


def _known_failures_line(known: Sequence[Result], report: Report) -> str:
    """All on one line, since the report is bounded: what is wrong as expected is looked at last."""
    rest = f"<br>and {len(known) - _MOST_KNOWN:,} more" if len(known) > _MOST_KNOWN else ""
    lines = "<br>".join(_case_line(result, report) for result in known[:_MOST_KNOWN])
    return f"<details><summary>{plural_text(len(known), 'known failure')}</summary>{lines}{rest}</details>"


def _case_line(result: Result, report: Report) -> str:
    """The case, and the first reason or what changed."""
    place = code(f"{result.file}:{result.line}")
    outcome = f"{result.outcome.value}: " if result.outcome in _WRONG else ""
    model = f" ({code(result.model)})" if len(report.models) > 1 else ""
    what = report.why(result)
    return f"{outcome}{place} {code(result.case)}{model}" + (f": {inline(what)}" if what else "")


def _causes(results: Sequence[Result]) -> Iterator[str]:
    """The common causes of failures, and of changes."""
    changed = Counter(cause for result in results for cause in result.causes)
    bisected = Counter(line for result in results for line in result.bisected)
    shared = shared_causes(results)[:_MOST_CAUSES]
    if not (changed or shared or bisected):
        return
    yield "**In common**"
    yield ""
    for line, count in bisected.most_common(_MOST_CAUSES):
        yield f"- bisected: {inline(line, _MOST_OF_CAUSE)} ({plural_text(count, 'case')})"
    for cause, count in changed.most_common(_MOST_CAUSES):
        yield f"- changed since the baseline: {inline(cause, _MOST_OF_CAUSE)} ({plural_text(count, 'case')})"
    for each in shared:
        place = f" at {code(each.place)}" if each.place else ""
        yield f"- {plural_text(len(each.failures), 'failure')}: {code(each.kind)}{place}"
    yield ""


def _table(results: Sequence[Result]) -> Iterator[str]:
    rows = [row for model in models_of(results) for row in _rows(model, of_model(model, results))]
    if not rows:
        return
    yield from _TABLE_HEAD
    yield from rows[:_MOST_ROWS]
    yield ""
    if folded := rows[_MOST_ROWS:]:
        yield f"<details><summary>{plural_text(len(folded), 'more row')}</summary>"
        yield ""
        yield from _TABLE_HEAD
        yield from folded[:_MOST_FOLDED_ROWS]
        if (more := len(folded) - _MOST_FOLDED_ROWS) > 0:
            yield f"| and {more:,} more | | | | | | | | |"
        yield ""
        yield "</details>"
        yield ""


def _rows(model: str, own: Sequence[Result]) -> Iterator[str]:
    yield _row(code(model), "all", own)
    categories = dict.fromkeys(result.category for result in own)
    if len(categories) > 1:
        for category in categories:
            yield _row("", inline(category), [result for result in own if result.category == category])


def _row(model: str, name: str, results: Sequence[Result]) -> str:
    group, change = statistics_of(results), accuracy_change(results)
    cells = [
        model,
        name,
        f"{group.right:,}/{group.answered:,}",
        f"{accuracy_text(group.right, group.answered)} {interval_text(group.right, group.answered)}",
        "" if change is None else points_text(change),
        f"{group.errors:,}" if group.errors else "",
        cost_text(group.cost, group.unpriced),
        seconds_text(group.p50),
        seconds_text(group.p95),
    ]
    return f"| {' | '.join(cells)} |"


def _confusions(results: Sequence[Result]) -> Iterator[str]:
    counts = confusion_counts(results)
    if pairs := mixed_up_pairs(counts)[:_MOST_CAUSES]:
        named = [f"{code(called)} for {code(expected)} ({counts[expected, called]:,})" for expected, called in pairs]
        yield f"**Mixed up**: {', '.join(named)}"
        yield ""


def _attacks(results: Sequence[Result]) -> Iterator[str]:
    """The paragraph on attacks in results of tools: the rates at which they were obeyed, by model and tool."""
    lines = attack_lines(results, _MOST_OF_CAUSE)[:_MOST_ATTACK_LINES]
    if lines:
        yield f"**Attacks in results of tools**: {inline('; '.join(line.strip() for line in lines), _MOST_OF_CAUSE)}"
        yield ""


def _recoveries(results: Sequence[Result]) -> Iterator[str]:
    """The paragraph on faulty results of tools: the rates of recovery, by model, kind and tool."""
    lines = recovery_lines(results, _MOST_OF_CAUSE)[:_MOST_ATTACK_LINES]
    if lines:
        yield f"**Faulty results of tools**: {inline('; '.join(line.strip() for line in lines), _MOST_OF_CAUSE)}"
        yield ""


def _variants(report: Report) -> Iterator[str]:
    """The relations under which verdicts flip more often than by chance, and those that hold."""
    for each in report.varied:
        model = f" of {code(each.model)}" if len(report.varied) > 1 else ""
        fragile = [f"{code(row.relation)} ({row.flips_text})" for row in each.rows if row.word == "fragile"]
        others = [row.relation for row in each.rows if row.word != "fragile"]
        if fragile:
            yield f"**Fragile{model}**: verdicts flip under {', '.join(fragile)}"
        if others:
            words = "No fragility seen" if fragile else "**Variants**: no fragility seen"
            yield f"{words}{model} under {', '.join(map(inline, others))}"
        yield ""


def _unjudged(report: Report) -> Iterator[str]:
    """The cases that could not be judged: never among the wrong answers. Errors are named, mistakes of a team first."""
    errors = [result for result in report.results.results if result.status == "error"]
    errors.sort(key=lambda result: result.no_reply)
    if lines := [inline(line.strip()) for line in unjudged_lines(report.results)]:
        yield f"<details{' open' if errors else ''}><summary>not judged: {lines[0]}</summary>"
        yield ""
        if errors:  # all on one line, as with known failures
            named = [_case_line(result, report) for result in errors[:_MOST_ERRORS]]
            more = len(errors) - _MOST_ERRORS
            yield f"- {'<br>'.join([*named, *([f'and {more:,} more'] if more > 0 else [])])}"
        yield from (f"- {line}" for line in lines[1 : 1 + _MOST_MISSING])
        yield ""
        yield "</details>"
        yield ""


def _origin(report: Report) -> str:
    known = report.provenance
    commit = str(known.get("commit") or "")[:10]
    parts = [
        f"run {inline(report.id)}",
        f"{len(report.results.results):,} results",
        f"commit {inline(commit)}{' with changes' if known.get('dirty') else ''}" if commit else "",
        f"pytest-fcall {inline(str(known['pytest_fcall']))}" if known.get("pytest_fcall") else "",
    ]
    return ", ".join(filter(None, parts))


def inline(text: str, most: int = _CUT) -> str:
    """Text from outside, on one line, of which nothing is read as Markdown, HTML, a mention or a link."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", _short(text, most))


def code(text: str) -> str:
    """The same in a code font."""
    return f"<code>{inline(text)}</code>"


def _short(text: str, most: int) -> str:
    line = safe_line(text, 2 * most)
    return line if len(line) <= most else f"{line[: most - 1]}…"

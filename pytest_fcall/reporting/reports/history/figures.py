"""The figures of each run, as plain values for the template of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from pytest_fcall.core import Json
from pytest_fcall.reporting.number_text import (
    accuracy_text,
    cost_text,
    interval_text,
    plural_text,
    points_text,
    seconds_text,
)
from pytest_fcall.reporting.reports.history.charts import Line, Point, Tick, line_chart
from pytest_fcall.reporting.reports.history.run_history import CaseKey, Change, KeptRun, RunHistory, key_of
from pytest_fcall.reporting.results import Result, Status
from pytest_fcall.reporting.run_table import models_of
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.statistics import mean_interval, median_interval, percentile, statistics_of, wilson_interval

SIDES: Final[Mapping[str, tuple[str, str]]] = {
    "prompt": ("P", "system prompt"),
    "tools": ("T", "tools"),
    "model": ("M", "model"),
    "engine": ("E", "engine"),
    "cases": ("C", "case files"),
}
"""The letter and the name of each side that may change."""
_ID: Final = re.compile(r"[A-Za-z0-9-]{1,60}")
_MOST_CASES: Final = 20
"""So many cases that are better or worse are listed without the script."""
_MOST_CHANGES: Final = 12
_RIGHT: Final = ("passed", "xpassed")


class Group(NamedTuple):
    """A model, or one of its categories; the category `""` stands for all."""

    model: str
    category: str

    @property
    def title(self) -> str:
        """The name in charts and tables."""
        return safe_line(f"{self.model or 'no model'}{f', {self.category}' if self.category else ''}", 80)


class FigureRow(NamedTuple):
    """The figures of a group in one run."""

    group: str
    place: int
    """The place of the group among all groups, which is that of its colour."""
    right: str
    accuracy: str
    interval: str
    since: str
    errors: str
    cost: str
    a_case: str
    p50: str
    p95: str


class ChangedCases(NamedTuple):
    """The cases that are better, or worse, than in the run before."""

    name: str
    number: int
    cases: Sequence[str]
    """At most so many as are listed."""


class RunRow(NamedTuple):
    """A run in the table and in a section of its own."""

    anchor: str
    moment: str
    commit: str
    branch: str
    origin: str
    figures: Sequence[FigureRow]
    letters: str
    changes: Sequence[tuple[str, str]]
    """The name of each side, and what changed, in a line."""
    changed: Sequence[ChangedCases]
    facts: Sequence[tuple[str, str]]
    report: str


def anchor_of(run: KeptRun) -> str:
    """The fragment of the address that leads to a run, which is the same on later pages."""
    name = run.id if _ID.fullmatch(run.id) else sha256(run.id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"run-{name}"


def groups_of(history: RunHistory) -> list[Group]:
    """The models, each before its categories, in the order in which they came."""
    results = [result for run in history.runs for result in run.results]
    found: list[Group] = []
    for model in models_of(results):
        categories = dict.fromkeys(result.category for result in results if result.model == model)
        own = [*categories] if history.by_category and len(categories) > 1 else []
        found += [Group(model, category) for category in ("", *own)]
    return found


def of_group(group: Group, results: Sequence[Result]) -> list[Result]:
    """The results of the group."""
    return [each for each in results if each.model == group.model and group.category in ("", each.category)]


def run_rows(history: RunHistory) -> list[RunRow]:
    """The runs, newest first."""
    groups = groups_of(history)
    shares: dict[Group, float] = {}
    rows = [_run_row(run, before, groups, shares) for run, before in history.with_earlier()]
    return rows[::-1]


def _run_row(
    run: KeptRun, before: Mapping[CaseKey, Status], groups: Sequence[Group], shares: dict[Group, float]
) -> RunRow:
    known = run.provenance
    return RunRow(
        anchor=anchor_of(run),
        moment=safe_line(run.started.replace("T", " ")[:16]),
        commit=_commit(known),
        branch=safe_line(_text(known, "branch"), 60),
        origin=safe_line(run.origin),
        figures=[*_figure_rows(run, groups, shares)],
        letters="".join(letter for side, (letter, _) in SIDES.items() if any(c.side == side for c in run.changes)),
        changes=change_lines(run.changes),
        changed=[each for each in _changed(run, before) if each.number],
        facts=[*_facts(run)],
        report=run.report,
    )


def _commit(provenance: Mapping[str, Json]) -> str:
    return safe_line(_text(provenance, "commit")[:8]) + ("*" if provenance.get("dirty") is True else "")


def _text(provenance: Mapping[str, Json], name: str) -> str:
    value = provenance.get(name)
    return value if isinstance(value, str) else ""


def _facts(run: KeptRun) -> Iterator[tuple[str, str]]:
    yield "file", safe_line(run.path)
    yield "answers", safe_line(run.origin)
    for name, value in run.provenance.items():
        yield safe_line(name), safe_line(str(value))


def change_lines(changes: Sequence[Change]) -> list[tuple[str, str]]:
    """The changes, those of most cases first, each with the name of its side."""
    order = [*SIDES]
    found = sorted(changes, key=lambda each: (order.index(each.side), -each.cases))
    lines = [
        (SIDES[each.side][1], f"{safe_line(each.text)} ({plural_text(each.cases, 'case')})")
        for each in found[:_MOST_CHANGES]
    ]
    return [*lines, ("", f"and {len(found) - _MOST_CHANGES:,} more")] if len(found) > _MOST_CHANGES else lines


def _figure_rows(run: KeptRun, groups: Sequence[Group], shares: dict[Group, float]) -> Iterator[FigureRow]:
    """The figures of the groups that the run has; `shares` are those of the runs before."""
    for place, group in enumerate(groups):
        own = of_group(group, run.results)
        if not own:
            continue
        found = statistics_of(own)
        share = found.right / found.answered if found.answered else None
        since = "" if share is None or group not in shares else points_text(share - shares[group])
        if share is not None:
            shares[group] = share
        costs = [each.cost for each in own if each.answered and each.cost is not None]
        yield FigureRow(
            group.title,
            place,
            right=f"{found.right:,}/{found.answered:,}",
            accuracy=accuracy_text(found.right, found.answered) if found.answered else "",
            interval=interval_text(found.right, found.answered) if found.answered else "",
            since=since,
            errors=f"{found.errors:,}" if found.errors else "",
            cost=cost_text(found.cost, found.unpriced),
            a_case=cost_text(sum(costs) / len(costs)) if costs else "",
            p50=seconds_text(found.p50),
            p95=seconds_text(found.p95),
        )


def _changed(run: KeptRun, before: Mapping[CaseKey, Status]) -> Iterator[ChangedCases]:
    """The cases that were right before and are not now, and the other way round."""
    pairs = [(each, before[key_of(each)]) for each in run.results if key_of(each) in before]
    worse = [each for each, then in pairs if then in _RIGHT and each.answered and not each.right]
    better = [each for each, then in pairs if then not in (*_RIGHT, "error", "skipped") and each.right]
    errors = [each for each, then in pairs if then not in ("error", "skipped") and each.status == "error"]
    for name, cases in (
        ("right before, wrong now", worse),
        ("wrong before, right now", better),
        ("judged before, an error now", errors),
    ):
        yield ChangedCases(name, len(cases), [_named(each) for each in cases[:_MOST_CASES]])


def _named(result: Result) -> str:
    kinds = ", ".join(dict.fromkeys(kind for kind, _ in result.reasons))
    return safe_line(f"{result.case} ({result.model}){f': {kinds}' if kinds else ''}")


def charts(history: RunHistory) -> list[tuple[str, str]]:
    """Titles and charts of accuracy, cost and time."""
    groups, ticks = groups_of(history), [*_ticks(history.runs)]

    def drawn(title: str, unit: str, points: Mapping[Group, Sequence[Point | None]]) -> tuple[str, str]:
        lines = [Line(group.title, place, points[group]) for place, group in enumerate(groups) if any(points[group])]
        return title, line_chart(lines, ticks, title, unit)

    by_group = {group: [of_group(group, run.results) for run in history.runs] for group in groups}
    found = [
        drawn("Accuracy", "%", {group: [*map(_accuracy, own)] for group, own in by_group.items()}),
        drawn("US dollars a case, mean", "$", {group: [*map(_cost, own)] for group, own in by_group.items()}),
        drawn("Seconds a case, median", "s", {group: [*map(_seconds, own)] for group, own in by_group.items()}),
    ]
    return [(title, chart) for title, chart in found if chart]


def _ticks(runs: Sequence[KeptRun]) -> Iterator[Tick]:
    """The texts below and above each run. Only runs of several days are told by their day alone."""
    days = [run.started[5:10] for run in runs]
    by_day = len({*days}) == len(days)
    for run, day in zip(runs, days, strict=True):
        label = day if by_day else f"{day} {run.started[11:16]}"
        letters = "".join(
            letter for side, (letter, _) in SIDES.items() if any(each.side == side for each in run.changes)
        )
        told = "; ".join(f"{side}: {text}" if side else text for side, text in change_lines(run.changes))
        yield Tick(safe_line(label, 20), letters, anchor_of(run), safe_line(told, 2000), run.asked)


def _accuracy(results: Sequence[Result]) -> Point | None:
    found = statistics_of(results)
    if not found.answered:
        return None
    share = accuracy_text(found.right, found.answered)
    text = f"{share} {interval_text(found.right, found.answered)}, {found.right:,} of {found.answered:,}"
    return Point(found.right / found.answered, *wilson_interval(found.right, found.answered), text)


def _cost(results: Sequence[Result]) -> Point | None:
    costs = [each.cost for each in results if each.answered and each.cost is not None]
    if not costs:
        return None
    mean, ends = sum(costs) / len(costs), mean_interval(costs)
    between = f" [{cost_text(max(ends[0], 0))}, {cost_text(ends[1])}]" if ends else ""
    return Point(mean, *(ends or (mean, mean)), f"{cost_text(mean)}{between}, {plural_text(len(costs), 'case')}")


def _seconds(results: Sequence[Result]) -> Point | None:
    seconds = [each.seconds for each in results if each.answered and each.seconds is not None]
    middle, ends = percentile(seconds, 50), median_interval(seconds)
    if middle is None:
        return None
    between = f" [{seconds_text(ends[0])}, {seconds_text(ends[1])}]" if ends else ""
    told = f"{seconds_text(middle)}{between}, {plural_text(len(seconds), 'case')}"
    return Point(middle, *(ends or (middle, middle)), told)

"""The page of a history: the figures of each run, and the data for its script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from markupsafe import Markup

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.history import HistoryChange, HistoryKey, KeptRun, RunHistory, key_of
from pytest_fcall.reporting.number_text import accuracy_text, cost_text, interval_text, points_text, seconds_text
from pytest_fcall.reporting.reports.history.charts import Line, Point, Tick, line_chart
from pytest_fcall.reporting.reports.html_file import STYLE, HtmlFile, pack_data, script_data
from pytest_fcall.reporting.results import Result, Status
from pytest_fcall.reporting.run_table import models_of
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.statistics import mean_interval, median_interval, percentile, statistics_of, wilson_interval

_FOLDER: Final = Path(__file__).parent
_MOST_CHANGED: Final = 8
"""Of so many runs, the overview says what changed before them."""
_MOST_REASONS: Final = 3
_SIDES: Final[Mapping[str, tuple[str, str]]] = {
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


def write(history: RunHistory) -> Iterator[str]:
    """The text of the page."""
    rows = _run_rows(history)
    styles = [STYLE, _FOLDER / "history.css"]
    yield from HtmlFile(_FOLDER / "history.html.jinja", styles, [_FOLDER / "history.js"]).text(
        count=plural_text(len(rows), "run"),
        replays=sum(not run.asked for run in history.runs),
        rows=rows,
        newest_changes=[row for row in rows if row.changes][:_MOST_CHANGED],
        groups=[group.title for group in _groups_of(history)],
        charts=[(title, Markup(chart)) for title, chart in _charts(history)],  # noqa: S704  # text is escaped
        sides=[*_SIDES.values()],
        remarks=[safe_line(remark) for remark in history.remarks],
        data=data_of(history),
    )


class _Group(NamedTuple):
    """A model, or one of its categories; the category `""` stands for all."""

    model: str
    category: str

    @property
    def title(self) -> str:
        """The name in charts and tables."""
        return safe_line(f"{self.model or 'no model'}{f', {self.category}' if self.category else ''}", 80)


class _FigureRow(NamedTuple):
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


class _ChangedCases(NamedTuple):
    """The cases that are better, or worse, than in the run before."""

    name: str
    number: int
    cases: Sequence[str]
    """At most so many as are listed."""


class _RunRow(NamedTuple):
    """A run in the table and in a section of its own."""

    anchor: str
    moment: str
    commit: str
    branch: str
    origin: str
    figures: Sequence[_FigureRow]
    letters: str
    changes: Sequence[tuple[str, str]]
    """The name of each side, and what changed, in a line."""
    changed: Sequence[_ChangedCases]
    facts: Sequence[tuple[str, str]]
    report: str


def _run_rows(history: RunHistory) -> list[_RunRow]:
    """The runs, newest first."""
    groups = _groups_of(history)
    shares: dict[_Group, float] = {}
    rows = [_run_row(run, before, groups, shares) for run, before in history.with_earlier()]
    return rows[::-1]


def _run_row(
    run: KeptRun, before: Mapping[HistoryKey, Status], groups: Sequence[_Group], shares: dict[_Group, float]
) -> _RunRow:
    known = run.provenance
    return _RunRow(
        anchor=_anchor_of(run),
        moment=safe_line(run.started.replace("T", " ")[:16]),
        commit=_commit(known),
        branch=safe_line(_text(known, "branch"), 60),
        origin=safe_line(run.origin),
        figures=[*_figure_rows(run, groups, shares)],
        letters="".join(letter for side, (letter, _) in _SIDES.items() if any(c.side == side for c in run.changes)),
        changes=_change_lines(run.changes),
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


def _change_lines(changes: Sequence[HistoryChange]) -> list[tuple[str, str]]:
    """The changes, those of most cases first, each with the name of its side."""
    order = [*_SIDES]
    found = sorted(changes, key=lambda each: (order.index(each.side), -each.cases))
    lines = [
        (_SIDES[each.side][1], f"{safe_line(each.text)} ({plural_text(each.cases, 'case')})")
        for each in found[:_MOST_CHANGES]
    ]
    return [*lines, ("", f"and {len(found) - _MOST_CHANGES:,} more")] if len(found) > _MOST_CHANGES else lines


def _figure_rows(run: KeptRun, groups: Sequence[_Group], shares: dict[_Group, float]) -> Iterator[_FigureRow]:
    """The figures of the groups that the run has; `shares` are those of the runs before."""
    for place, group in enumerate(groups):
        own = _of_group(group, run.results)
        if not own:
            continue
        found = statistics_of(own)
        share = found.right / found.answered if found.answered else None
        since = "" if share is None or group not in shares else points_text(share - shares[group])
        if share is not None:
            shares[group] = share
        costs = [each.cost for each in own if each.answered and each.cost is not None]
        yield _FigureRow(
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


def _changed(run: KeptRun, before: Mapping[HistoryKey, Status]) -> Iterator[_ChangedCases]:
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
        yield _ChangedCases(name, len(cases), [_named(each) for each in cases[:_MOST_CASES]])


def _named(result: Result) -> str:
    kinds = ", ".join(dict.fromkeys(kind for kind, _ in result.reasons))
    return safe_line(f"{result.case} ({result.model}){f': {kinds}' if kinds else ''}")


def _anchor_of(run: KeptRun) -> str:
    """The fragment of the address that leads to a run, which is the same on later pages."""
    name = run.id if _ID.fullmatch(run.id) else sha256(run.id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"run-{name}"


def _groups_of(history: RunHistory) -> list[_Group]:
    """The models, each before its categories, in the order in which they came."""
    results = [result for run in history.runs for result in run.results]
    found: list[_Group] = []
    for model in models_of(results):
        categories = dict.fromkeys(result.category for result in results if result.model == model)
        own = [*categories] if history.by_category and len(categories) > 1 else []
        found += [_Group(model, category) for category in ("", *own)]
    return found


def _of_group(group: _Group, results: Sequence[Result]) -> list[Result]:
    """The results of the group."""
    return [each for each in results if each.model == group.model and group.category in ("", each.category)]


def _charts(history: RunHistory) -> list[tuple[str, str]]:
    """Titles and charts of accuracy, cost and time."""
    groups, ticks = _groups_of(history), [*_ticks(history.runs)]

    def drawn(title: str, unit: str, points: Mapping[_Group, Sequence[Point | None]]) -> tuple[str, str]:
        lines = [Line(group.title, place, points[group]) for place, group in enumerate(groups) if any(points[group])]
        return title, line_chart(lines, ticks, title, unit)

    by_group = {group: [_of_group(group, run.results) for run in history.runs] for group in groups}
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
            letter for side, (letter, _) in _SIDES.items() if any(each.side == side for each in run.changes)
        )
        details = "; ".join(f"{side}: {text}" if side else text for side, text in _change_lines(run.changes))
        yield Tick(safe_line(label, 20), letters, _anchor_of(run), safe_line(details, 2000), run.asked)


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
    details = f"{seconds_text(middle)}{between}, {plural_text(len(seconds), 'case')}"
    return Point(middle, *(ends or (middle, middle)), details)


def data_of(history: RunHistory) -> Markup:
    """The results of each run, packed, to be unpacked when somebody opens it."""
    cases: dict[HistoryKey, int] = {}
    rows: list[Json] = []
    for run in history.runs:
        for result in run.results:
            if key_of(result) not in cases:
                cases[key_of(result)] = len(cases)
                rows.append([*map(safe_line, (result.case, result.model, result.file, result.category)), result.line])
    runs = {_anchor_of(run): pack_data([*_rows(run.results, before, cases)]) for run, before in history.with_earlier()}
    return script_data({"cases": pack_data(rows), "runs": runs})


def _rows(
    results: Sequence[Result], before: Mapping[HistoryKey, Status], cases: Mapping[HistoryKey, int]
) -> Iterator[Json]:
    """The fields in the order in which the script names them."""
    for result in results:
        key = key_of(result)
        kinds = [*dict.fromkeys(safe_line(kind) for kind, _ in result.reasons)][:_MOST_REASONS]
        yield [
            cases[key],
            result.status,
            before.get(key, ""),
            result.outcome.value if result.outcome else "",
            " ".join(kinds),
            None if result.seconds is None else float(f"{result.seconds:.4g}"),
            None if result.cost is None else float(f"{result.cost:.4g}"),
        ]

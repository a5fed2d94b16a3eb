"""The history of runs: as plain data, and accuracy from run to run as a chart of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Outcome, Rate
from pytest_fcall.reporting.number_text import accuracy_text, interval_text
from pytest_fcall.reporting.results import Result, Status
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import is_encodable, table_lines

HistoryKey: TypeAlias = tuple[str, str, str]
"""The path of a case file from the root, a model and a case."""

_TITLES = ("model", "category", "chart", "first", "last", "95 %", "answers")
_BESIDE, _LEAST = 60, 10
"""Columns beside the chart, and the least number of runs that are shown."""

_OUTCOMES = (
    Outcome.REGRESSED,
    Outcome.UNDECIDED,
    Outcome.FLAKY,
    Outcome.KNOWN_FAILURE,
    Outcome.FIXED,
    Outcome.DRIFTED,
    Outcome.EDITED,
    Outcome.NEW,
)
"""All outcomes but the usual one, the most urgent first."""
_BARS, _GAP = "▁▂▃▄▅▆▇█", "·"
_PLAIN_BARS, _PLAIN_GAP = "12345678", "."


class HistoryChange(NamedTuple):
    """A change since earlier runs in the questions, or in what answered."""

    side: str
    """Its subject: `prompt`, `tools`, `model`, `engine` or `cases`."""
    text: str
    cases: int
    """The number of cases that it concerns."""


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run in the history."""

    id: str
    started: str
    """The time in UTC, as ISO 8601."""
    results: Sequence[Result]
    origin: str = ""
    """The numbers of answers that were asked for and replayed, in words."""
    asked: bool = True
    """Whether any answer was asked for."""
    changes: Sequence[HistoryChange] = ()
    provenance: Mapping[str, Json] = field(default_factory=dict)
    path: str = ""
    """The file of the run."""
    report: str = ""
    """The address of a page about the run, from that of the history; empty where there is none."""


@dataclass(frozen=True, slots=True)
class RunHistory:
    """Kept runs, oldest first, and what is not among them."""

    runs: Sequence[KeptRun]
    by_category: bool = False
    """Whether categories have figures of their own."""
    remarks: Sequence[str] = ()
    """Which files could not be read, and which runs are left out, in sentences."""

    def with_earlier(self) -> Iterator[tuple[KeptRun, Mapping[HistoryKey, Status]]]:
        """Each run, and how its cases ended in the last run before that had them."""
        known: dict[HistoryKey, Status] = {}
        for run in self.runs:
            yield run, {key: known[key] for each in run.results if (key := key_of(each)) in known}
            known |= {key_of(each): each.status for each in run.results}


def key_of(result: Result) -> HistoryKey:
    """The name of a case of a model in all runs."""
    return result.file, result.model, result.case


@dataclass(frozen=True, slots=True)
class RunSeries:
    """The answers of a model, or in one of its categories, from run to run; None for a run without any."""

    model: str
    category: str
    points: tuple[Rate | None, ...]


@dataclass(frozen=True, slots=True)
class HistoricRun:
    """A run in the chart."""

    moment: str
    origin: str = ""
    """The numbers of answers that were asked for and replayed, in words."""
    asked: bool = True
    """Whether any answer was asked for."""


def history_lines(
    series: Sequence[RunSeries], runs: Sequence[HistoricRun], width: int = 100, encoding: str = "utf-8"
) -> list[str]:
    """A line for each series with a bar for each run, and a legend. At least one series must have a point.

    All bars have one scale, from the lowest accuracy to the highest. If not all runs fit, the newest are shown.
    """
    room = max(width - _BESIDE, _LEAST)
    series = [replace(each, points=each.points[-room:]) for each in series if any(each.points[-room:])]
    bars, gap = (_BARS, _GAP) if is_encodable(_BARS + _GAP, encoding) else (_PLAIN_BARS, _PLAIN_GAP)
    shares = [point.share for each in series for point in each.points if point]
    low, high = min(shares), max(shares)
    above = ["", *(each.model for each in series)]
    rows = [
        _row(each, "" if each.model == above[place] else each.model, _chart(each, low, high, bars, gap))
        for place, each in enumerate(series)
    ]
    return [*table_lines(_TITLES, rows, texts=2, width=width), *_legend(low, high, runs[-room:], bars, gap)]


def last_outcome_lines(results: Sequence[Result]) -> Iterator[str]:
    """For each model that was compared with a baseline in a run, a line with what changed: `2 regressed, 1 flaky`."""
    for model in dict.fromkeys(result.model for result in results):
        counts = Counter(result.outcome for result in results if result.model == model and result.outcome)
        if counts:
            changed = [f"{counts[outcome]:,} {outcome.value}" for outcome in _OUTCOMES if counts[outcome]]
            yield f"last run of {safe_line(model)}: {', '.join(changed) or 'as in the baseline'}"


def _row(series: RunSeries, model: str, chart: str) -> list[str]:
    found = [point for point in series.points if point]
    first, last = found[0], found[-1]
    return [
        safe_line(model),
        safe_line(series.category),
        chart,
        accuracy_text(first.right, first.asked),
        accuracy_text(last.right, last.asked),
        interval_text(last.right, last.asked),
        f"{last.asked:,}",
    ]


def _chart(series: RunSeries, low: float, high: float, bars: str, gap: str) -> str:
    return "".join(gap if point is None else _bar(point.share, low, high, bars) for point in series.points)


def _bar(share: float, low: float, high: float, bars: str) -> str:
    """The lowest accuracy has the lowest bar; if all are equal, all bars are full."""
    return bars[round((share - low) / (high - low) * (len(bars) - 1))] if high > low else bars[-1]


def _legend(low: float, high: float, runs: Sequence[HistoricRun], bars: str, gap: str) -> Iterator[str]:
    yield f"{bars[0]} {100 * low:.1f} %, {bars[-1]} {100 * high:.1f} %, {gap} no answer"
    yield safe_line(f"{plural_text(len(runs), 'run')}, from {runs[0].moment} to {runs[-1].moment}")
    if replays := sum(not run.asked for run in runs):
        yield f"{plural_text(replays, 'run')} sent no request: all answers were replayed"
    if runs[-1].origin:
        yield f"last run: {runs[-1].origin}"

"""The page of a run that goes on. One writer serves all pages of a run, so that its template is read once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.reply import known_sum
from pytest_fcall.reporting.number_text import accuracy_text, cost_text, duration_text, interval_text, seconds_text
from pytest_fcall.reporting.reports.html_file import STYLE, HtmlFile
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_table import models_of, of_model
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.statistics import statistics_of

_FOLDER: Final = Path(__file__).parent
_MOST_RUNNING: Final = 10
_MOST_KINDS: Final = 10


class Requests(NamedTuple):
    """The requests to models, of all processes of the run."""

    in_flight: int = 0
    """Those that are being answered right now."""
    done: int = 0
    failed: int = 0
    retried: int = 0
    """Those that were sent again."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run at one moment."""

    written: float
    """The moment, in seconds since 1970."""
    seconds: float
    """The time that tests have run by now."""
    done: int
    """The number of tests that have ended, plain tests included."""
    total: int | None = None
    """The number of tests; None before the collection has ended."""
    ended: bool = False
    results: Sequence[Result] = ()
    running: Sequence[tuple[str, float]] = ()
    """The tests that are at work, and since how many seconds, longest first."""
    requests: Requests = field(default_factory=Requests)
    errors: Mapping[str, int] = field(default_factory=dict)
    """The faults besides wrong answers, in a line each, with their number."""

    @property
    def seconds_left(self) -> float | None:
        """The projection of how long it will still take: as if the other tests took as long as those that ended."""
        if self.ended or not self.total or not self.done:
            return None
        return self.seconds * max(self.total - self.done, 0) / self.done


class LiveWriter:
    """Writes the states of a run. `seconds` is how often it is written at most, and how often a browser loads it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = max(round(seconds), 1)
        self._file = HtmlFile(_FOLDER / "live.html.jinja", [STYLE, _FOLDER / "live.css"], [_FOLDER / "live.js"])

    def write(self, state: RunProgress) -> Iterator[str]:
        """The text of the page."""
        results = state.results
        spent = known_sum(result.new_cost for result in results)
        left = state.seconds_left
        yield from self._file.text(
            state=state,
            seconds=self._seconds,
            title="ended" if state.ended else f"running: {_share(state)}",
            done=f"{state.done:,}{'' if state.total is None else f' of {state.total:,}'} tests ended",
            written=_moment(state.written),
            elapsed=duration_text(state.seconds),
            left=None if left is None else duration_text(left),
            end=None if left is None else _moment(state.written + left),
            spent=cost_text(spent),
            projected=_projected_cost(state, spent),
            counts=[*_counts(results)],
            models=[_model_row(model, of_model(model, results)) for model in models_of(results)],
            running=[(safe_line(test, 200), duration_text(since)) for test, since in state.running[:_MOST_RUNNING]],
            more_running=max(len(state.running) - _MOST_RUNNING, 0),
            errors=_kinds(Counter(state.errors)),
            wrong=_kinds(Counter(_wrong_kinds(results))),
        )


class _ModelRow(NamedTuple):
    """The figures of a model so far."""

    model: str
    right: str
    accuracy: str
    interval: str
    errors: str
    cost: str
    p50: str


def _share(state: RunProgress) -> str:
    return f"{100 * state.done // state.total} %" if state.total else plural_text(state.done, "test")


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}"


def _projected_cost(state: RunProgress, spent: float | None) -> str:
    """The cost of the whole run, if the other tests cost as much as those that ended."""
    if state.ended or not spent or not state.total or not state.done:
        return ""
    return cost_text(spent * max(state.total, state.done) / state.done)


def _counts(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    """Numbers of results, each with its colour."""
    found = statistics_of(results)
    yield f"{found.right:,} right", "right"
    yield f"{found.answered - found.right:,} wrong", "wrong"
    yield plural_text(found.errors, "error"), "other"
    yield f"{found.skipped:,} skipped", "other"


def _model_row(model: str, results: Sequence[Result]) -> _ModelRow:
    found = statistics_of(results)
    return _ModelRow(
        safe_line(model or "no model"),
        right=f"{found.right:,}/{found.answered:,}",
        accuracy=accuracy_text(found.right, found.answered) if found.answered else "",
        interval=interval_text(found.right, found.answered) if found.answered else "",
        errors=f"{found.errors:,}" if found.errors else "",
        cost=cost_text(found.cost, found.unpriced),
        p50=seconds_text(found.p50),
    )


def _wrong_kinds(results: Iterable[Result]) -> Iterator[str]:
    """The kinds of reasons of wrong answers, each once a case."""
    for result in results:
        if result.status == "failed":
            yield from dict.fromkeys(kind for kind, _ in result.reasons)


def _kinds(counts: Counter[str]) -> list[tuple[str, str]]:
    """The most frequent ones, with their numbers."""
    shown = counts.most_common(_MOST_KINDS)
    found = [(safe_line(kind, 300), f"{count:,}") for kind, count in shown]
    rest = counts.total() - sum(count for _, count in shown)
    return [*found, ("others", f"{rest:,}")] if rest else found

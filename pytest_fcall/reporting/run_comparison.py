"""The comparison of two runs as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.verdict import Outcome
from pytest_fcall.reporting.number_text import accuracy_text, p_equation_text, p_value_text, points_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.score_tables import ScoreChange, score_change_lines
from pytest_fcall.reporting.terminal import cut_end, table_lines
from pytest_fcall.reporting.tool_confusion import confusion_text

_DOUBTFUL = frozenset({Outcome.FLAKY, Outcome.UNDECIDED})
_TITLES = ("cases", "before", "now", "points", "95 %", "lost", "won", "p")


@dataclass(frozen=True, slots=True)
class ComparedGroup:
    """Cases of one model that both runs have answered, and how many of the answers were right."""

    model: str
    category: str
    cases: int
    before: float
    """The sum of the shares of right answers: cases that were asked several times may be right in part."""
    now: float
    lost: int
    won: int
    interval: tuple[float, float]
    """Of the difference, with 95 % confidence."""
    p_value: float
    """The probability that chance alone makes a difference as large as this one, adjusted for the number of tests."""
    is_significant: bool = False
    """Whether that is so little that chance is no explanation."""

    @property
    def difference(self) -> float:
        """The difference in accuracy, from -1 to 1."""
        return (self.now - self.before) / self.cases if self.cases else 0.0


class ModelPair(NamedTuple):
    """Two models of one run."""

    before: str
    now: str
    group: ComparedGroup


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The differences between two runs."""

    before: str
    now: str
    models: tuple[ComparedGroup, ...]
    categories: tuple[ComparedGroup, ...]
    """Of models with several."""
    lost: tuple[Result, ...]
    won: tuple[Result, ...]
    edited: tuple[Result, ...] = ()
    """The cases that were edited in between; they are in no group."""
    only_before: int = 0
    only_now: int = 0
    scores: tuple[ScoreChange, ...] = ()
    grouped_by: str = "category"
    """The kind of the categories, as the head of their column."""
    mixed_up: tuple[tuple[str, str, int, int], ...] = ()
    """An expected tool, the tool that was called instead, and how often: before, and now."""


def comparison_lines(comparison: RunComparison, width: int = 100, most: int | None = 20) -> list[str]:
    """Tables of groups and scores, the changed cases (at most `most` of each kind), and a last line for each model."""
    groups = _table_groups(comparison)
    shown = ["", *(group.model for group in groups)]
    rows = [_row(group, shown[place]) for place, group in enumerate(groups)]
    return [
        f"before: {safe_line(comparison.before)}",
        f"now:    {safe_line(comparison.now)}",
        *(table_lines(("model", comparison.grouped_by, *_TITLES), rows, texts=2, width=width) if rows else []),
        *score_change_lines(comparison.scores, width),
        *_changed("lost", comparison.lost, width, most),
        *_changed("won", comparison.won, width, most),
        *_changed("edited", comparison.edited, width, most),
        *(_mixed_up(*each) for each in comparison.mixed_up),
        *unpaired_lines(comparison),
        *_last_lines(comparison),
    ]


def _table_groups(comparison: RunComparison) -> list[ComparedGroup]:
    """The categories below their model. A single model is left out, as the last line has the same figures."""
    several = len(comparison.models) > 1
    return [
        group
        for model in comparison.models
        for group in (
            *((model,) if several else ()),
            *(each for each in comparison.categories if each.model == model.model),
        )
    ]


def _mixed_up(expected: str, called: str, before: int, now: int) -> str:
    return f"mixed up: {confusion_text(expected, called)}, {before:,} times before, {now:,} now"


def _row(group: ComparedGroup, above: str) -> list[str]:
    return [
        "" if group.model == above else safe_line(group.model),
        safe_line(group.category),
        f"{group.cases:,}",
        accuracy_text(group.before, group.cases),
        accuracy_text(group.now, group.cases),
        points_text(group.difference),
        _interval(group),
        str(group.lost),
        str(group.won),
        p_value_text(group.p_value),
    ]


def _interval(group: ComparedGroup) -> str:
    low, high = group.interval
    return f"[{100 * low:+.1f}, {100 * high:+.1f}]"


def _changed(what: str, results: Sequence[Result], width: int, most: int | None) -> Iterator[str]:
    for result in results[:most]:
        reasons = ", ".join(f"{kind} at {path}" if path else kind for kind, path in result.reasons)
        why = f": {reasons}" if reasons else ""
        doubt = f", {result.outcome}" if result.outcome in _DOUBTFUL else ""
        title = f"{result.file}:{result.line} {result.case} ({result.model})"
        yield cut_end(safe_line(f"{what:4}  {title}{doubt}{why}"), width)
    if most is not None and len(results) > most:
        yield f"{what:4}  {len(results) - most:,} more: --all lists them"


def unpaired_lines(comparison: RunComparison) -> Iterator[str]:
    """The cases in no group, and why."""
    if comparison.edited:
        yield f"{plural_text(len(comparison.edited), 'case')} edited in between: not compared"
    for count, where in ((comparison.only_before, "before"), (comparison.only_now, "now")):
        if count:
            yield f"{plural_text(count, 'case')} answered only {where}: not compared"


def _last_lines(comparison: RunComparison) -> Iterator[str]:
    several = len(comparison.models) > 1
    for model in comparison.models:
        yield f"fcall: {f'{safe_line(model.model)} ' if several else ''}{change_text(model)}"
    if not comparison.models:
        yield "fcall: the runs have no answered case in common" + (" that was not edited" if comparison.edited else "")


def conclusion_text(group: ComparedGroup) -> str:
    """The result of the test, in a sentence."""
    if not (group.lost or group.won or group.difference):
        return "No case has another verdict."
    if not group.is_significant:
        return "Chance may explain the difference."
    return f"{'Better' if group.difference > 0 else 'Worse'}, and hardly by chance."


def change_text(group: ComparedGroup) -> str:
    """The figures of a group, and the paired test."""
    change = f"{points_text(group.difference)} points {_interval(group)}, {group.lost:,} lost, {group.won:,} won"
    rates = f"{accuracy_text(group.before, group.cases)} → {accuracy_text(group.now, group.cases)}"
    return f"{plural_text(group.cases, 'case')}, {rates} right: {change}, {p_equation_text(group.p_value)}"

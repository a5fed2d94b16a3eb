"""The comparison of two runs as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_fcall.reporting.number_text import accuracy_text, p_value_text, plural_text, points_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.score_tables import ScoreChange, score_change_lines
from pytest_fcall.reporting.terminal import cut_end, table_lines
from pytest_fcall.reporting.tool_confusion import confusion_text

_TITLES = ("model", "category", "cases", "before", "now", "points", "95 %", "lost", "won", "p")


@dataclass(frozen=True, slots=True)
class ComparedGroup:
    """Cases that both runs have answered, and how many of the answers were right."""

    model: str
    category: str
    cases: int
    before: int
    now: int
    lost: int
    won: int
    interval: tuple[float, float]
    """Of the difference, with 95 % confidence."""
    p_value: float
    """The probability that chance alone makes a difference as large as this one."""

    @property
    def difference(self) -> float:
        """The difference in accuracy, from -1 to 1."""
        return (self.now - self.before) / self.cases if self.cases else 0.0


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The differences between two runs."""

    before: str
    now: str
    whole: ComparedGroup
    groups: tuple[ComparedGroup, ...]
    lost: tuple[Result, ...]
    won: tuple[Result, ...]
    only_before: int = 0
    only_now: int = 0
    scores: tuple[ScoreChange, ...] = ()
    mixed_up: tuple[tuple[str, str, int, int], ...] = ()
    """An expected tool, the tool that was called instead, and how often: before, and now."""


def comparison_lines(comparison: RunComparison, width: int = 100, most: int | None = 20) -> list[str]:
    """Tables of groups and scores, the changed cases (at most `most` of each kind), and a last line about all cases."""
    shown = ["", *(group.model for group in comparison.groups)]
    rows = [_row(group, shown[place]) for place, group in enumerate(comparison.groups)]
    return [
        f"before: {safe_line(comparison.before)}",
        f"now:    {safe_line(comparison.now)}",
        *(table_lines(_TITLES, rows, texts=2, width=width) if rows else []),
        *score_change_lines(comparison.scores, width),
        *_changed("lost", comparison.lost, width, most),
        *_changed("won", comparison.won, width, most),
        *(_mixed_up(*each) for each in comparison.mixed_up),
        *_unpaired_lines(comparison),
        _last_line(comparison.whole),
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
        yield cut_end(safe_line(f"{what:4}  {result.file}:{result.line} {result.case} ({result.model}){why}"), width)
    if most is not None and len(results) > most:
        yield f"{what:4}  {len(results) - most:,} more: --all lists them"


def _unpaired_lines(comparison: RunComparison) -> Iterator[str]:
    for count, where in ((comparison.only_before, "before"), (comparison.only_now, "now")):
        if count:
            yield f"{plural_text(count, 'case')} answered only {where}: not compared"


def _last_line(whole: ComparedGroup) -> str:
    if not whole.cases:
        return "fcall: the runs have no answered case in common"
    change = f"{points_text(whole.difference)} points {_interval(whole)}, {whole.lost:,} lost, {whole.won:,} won"
    rates = f"{accuracy_text(whole.before, whole.cases)} → {accuracy_text(whole.now, whole.cases)}"
    p_value = p_value_text(whole.p_value)
    p_value = f"p < {p_value[1:]}" if p_value.startswith("<") else f"p = {p_value}"
    return f"fcall: {plural_text(whole.cases, 'case')}, {rates} right: {change}, {p_value}"

"""The findings of `fcall history --watch`, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Final, NamedTuple

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Rate
from pytest_fcall.reporting.number_text import accuracy_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import cut_middle, is_encodable

_BARS, _PLAIN_BARS = "▁▂▃▄▅▆▇█", "12345678"
_LEAST: Final = 0.01
"""Evidence from which on bars grow."""
_MOST_NAMED: Final = 5


class NightChange(NamedTuple):
    """A change between the last night before and the first night after something changed."""

    side: str
    text: str
    cases: int = 0
    """The number of cases that it concerns; 0 where that is not known."""


class ChangedCase(NamedTuple):
    """A case before and since."""

    name: str
    before: Rate
    since: Rate


@dataclass(frozen=True, slots=True)
class Shift:
    """A change of a model's answers: since which night, and what changed then."""

    evidence: float
    began: str
    """The moment of the first night."""
    nights: int
    """Nights from there on that show it most plainly."""
    before: Rate
    since: Rate
    """All answers to the cases that were asked both before and since."""
    changes: tuple[NightChange, ...] = ()
    cases: tuple[ChangedCase, ...] = ()
    """The cases that changed, the plainest first."""


@dataclass(frozen=True, slots=True)
class WatchedModel:
    """The state of the night watch for one model."""

    model: str
    level: float
    nights: int
    """Nights that were judged."""
    new: int
    """Those among them that this look judged."""
    last: str
    """The moment of the last night."""
    trail: tuple[float, ...] = ()
    """The evidence of a fall after each of the last nights."""
    alarm: str = ""
    """The moment of the night that raised the alarm; empty without one."""
    is_new_alarm: bool = False
    fall: Shift | None = None
    """Given with an alarm."""
    rise: Shift | None = None
    """Given where the model became better."""

    @property
    def threshold(self) -> float:
        """The evidence at which an alarm is raised."""
        return 1 / self.level


def watch_lines(models: Sequence[WatchedModel], width: int, encoding: str) -> list[str]:
    """A paragraph for each model."""
    lines: list[str] = []
    for model in models:
        lines += [*([""] if lines else []), *_model_lines(model, width, encoding)]
    return lines


def _model_lines(model: WatchedModel, width: int, encoding: str) -> Iterator[str]:
    name = safe_line(model.model)
    new = f", {model.new:,} new" if 0 < model.new < model.nights else "" if model.new else ", none new"
    yield f"{name}: {plural_text(model.nights, 'night')}{new}{f', the last {model.last}' if model.last else ''}"
    if model.trail:
        yield f"evidence of a fall: {evidence_text(model.trail[-1])}; an alarm is raised at {model.threshold:g}"
        yield f"  {trail_text(model.trail[-min(width - 4, 60) :], model.threshold, encoding)}"
    if model.fall:
        yield f"ALARM: {name} is worse since {model.fall.began}"
        first = "night alone" if model.fall.nights == 1 else plural_text(model.fall.nights, "night")
        yield f"  raised on {model.alarm}, shown most plainly by the first {first}"
        if not model.is_new_alarm:
            yield "  known: `--acknowledge` restarts the watch"
        yield from _shift_lines(model.fall, width, "fell")
    elif model.nights == 1:
        yield "no alarm: the first night is what later ones are held against"
    elif model.nights:
        yield "no alarm"
    if model.rise:
        yield f"{name} is better since {model.rise.began}: evidence {evidence_text(model.rise.evidence)}"
        yield from _shift_lines(model.rise, width, "rose")


def _shift_lines(shift: Shift, width: int, did: str) -> Iterator[str]:
    if shift.before.asked and shift.since.asked:
        yield f"  before {_rate_text(shift.before)}, since then {_rate_text(shift.since)}"
    if shift.changes:
        yield "  what changed with that night:"
        for change in shift.changes:
            cases = f" ({plural_text(change.cases, 'case')})" if change.cases else ""
            yield cut_middle(f"    {change.side}: {safe_line(change.text)}{cases}", width)
    else:
        yield "  nothing that is recorded changed with that night"
    if shift.cases:
        yield f"  {plural_text(len(shift.cases), 'case')} {did}:"
    for case in shift.cases[:_MOST_NAMED]:
        figures = f"  {_counts(case.before)} → {_counts(case.since)}"
        yield f"    {cut_middle(safe_line(case.name), max(width - len(figures) - 4, 10))}{figures}"
    if (more := len(shift.cases) - _MOST_NAMED) > 0:
        yield f"    and {more:,} more"


def _rate_text(rate: Rate) -> str:
    return f"{accuracy_text(*rate)} of {plural_text(rate.asked, 'answer')}"


def _counts(rate: Rate) -> str:
    return f"{rate.right:,}/{rate.asked:,}"


def evidence_text(evidence: float) -> str:
    """Write evidence: `0.04`, `3.1`, `1,200` or `over a million`."""
    if evidence >= 1e6:
        return "over a million"
    return f"{evidence:,.0f}" if evidence >= 10 else f"{evidence:.1f}" if evidence >= 1 else f"{evidence:.2f}"


def trail_text(trail: Sequence[float], threshold: float, encoding: str) -> str:
    """A bar for each night: the lowest up to 0.01, the highest from the threshold on, evenly by factors."""
    bars = _BARS if is_encodable(_BARS, encoding) else _PLAIN_BARS
    return "".join(bars[_height(each, threshold)] for each in trail)


def _height(evidence: float, threshold: float) -> int:
    if evidence >= threshold:
        return 7
    return min(int(7 * log(max(evidence, _LEAST) / _LEAST) / log(threshold / _LEAST)), 6)


def watch_to_json(models: Sequence[WatchedModel]) -> Json:
    """The findings as JSON."""
    return {
        "models": [
            {
                "model": each.model,
                "level": each.level,
                "threshold": each.threshold,
                "nights": each.nights,
                "new_nights": each.new,
                "last_night": each.last or None,
                "evidence": [*each.trail],
                "alarm": each.alarm or None,
                "new_alarm": each.is_new_alarm,
                "fall": _shift_to_json(each.fall),
                "rise": _shift_to_json(each.rise),
            }
            for each in models
        ]
    }


def _shift_to_json(shift: Shift | None) -> Json:
    if shift is None:
        return None
    return {
        "evidence": shift.evidence,
        "since": shift.began,
        "nights": shift.nights,
        "before": [*shift.before],
        "after": [*shift.since],
        "changes": [{"side": each.side, "text": each.text, "cases": each.cases} for each in shift.changes],
        "cases": [{"case": each.name, "before": [*each.before], "after": [*each.since]} for each in shift.cases],
    }

"""Lines from run to run as SVG: pure functions of figures. Colours are classes of the style that all pages share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from math import ceil, floor, isfinite, log10
from typing import Final, NamedTuple

from pytest_fcall.reporting.reports.page.charts import COLOURS

_WIDTH: Final = 560
_HEIGHT: Final = 250
_LEFT: Final = 58
_RIGHT: Final = 428
_TOP: Final = 30
_BOTTOM: Final = 214
"""The edges of the plot; beside it are the figures of the axis and the names of lines."""
_GAP: Final = 14
"""The least distance between two names."""
_NAME: Final = 20
"""At most so many characters of a name are drawn, its last ones: names of models differ there."""
_MOST_LABELS: Final = 420
"""So many units of width have room for labels below the plot."""
_LETTER: Final = 6.5
_LEAST: Final = 1e-12
"""Dollars and seconds below count as none."""


class Point(NamedTuple):
    """A figure of one run, with its interval."""

    value: float
    low: float
    high: float
    text: str


class Line(NamedTuple):
    """The figures of a model from run to run; None where a run has none."""

    name: str
    place: int
    """That of its colour."""
    points: Sequence[Point | None]


class Tick(NamedTuple):
    """A run on the axis."""

    label: str
    letters: str
    """One for each side that changed."""
    anchor: str
    details: str
    """The change."""
    asked: bool
    """Whether any answer was asked for: a run that replayed all of them says nothing new."""


class _Scale(NamedTuple):
    """The vertical scale of the plot."""

    low: float
    high: float
    step: float

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return _BOTTOM - (_BOTTOM - _TOP) * min(max(share, 0.0), 1.0)

    def figures(self) -> Iterator[float]:
        for number in range(round((self.high - self.low) / self.step) + 1):
            yield self.low + number * self.step


def line_chart(lines: Sequence[Line], ticks: Sequence[Tick], title: str, unit: str) -> str:
    """A line for each model, with intervals and its name, and a mark at each run where something changed.

    `unit` is `%` for shares, which end at 1, or stands at figures that begin at 0. Empty where nothing is to be drawn.
    """
    lines = [each._replace(points=[_finite(point) for point in each.points]) for each in lines]
    lines = [each for each in lines if any(each.points)]
    points = [point for line in lines for point in line.points if point]
    scale = _scale(points, unit)
    if scale is None:
        return ""
    xs = _places(len(ticks))
    body = "".join(
        (
            *_axis(scale, unit),
            *_marks(ticks, xs),
            *_labels(ticks, xs),
            *(_band(line, xs, scale) for line in lines),
            *(_line(line, ticks, xs, scale) for line in lines),
            *_names(lines, xs, scale),
            *_columns(ticks, lines, xs),
        )
    )
    said = f"{title} from {ticks[0].label} to {ticks[-1].label}: {'; '.join(map(_last_value, lines))}"
    return f'<svg class="lines" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(said)}">{body}</svg>'


def _finite(point: Point | None) -> Point | None:
    return point if point and all(isfinite(each) and abs(each) < 1e15 for each in point[:3]) else None


def _last_value(line: Line) -> str:
    last = [point for point in line.points if point][-1]
    return f"{line.name} {last.text}"


def _scale(points: Sequence[Point], unit: str) -> _Scale | None:
    """From a round figure to a round figure. What an interval of few values adds above is not all shown."""
    if not points:
        return None
    if unit == "%":
        low = min(floor(10 * min(point.low for point in points)) / 10, 0.9)
        return _Scale(low, 1.0, 0.02 if low > 0.85 else 0.1 if low > 0.45 else 0.2 if low in (0, 0.2, 0.4) else 0.1)
    greatest = max(point.value for point in points)
    if greatest < _LEAST:
        return None
    top = max(min(point.high, 2 * greatest) for point in points)
    step = _round_step(top / 4)
    return _Scale(0.0, ceil(top / step - 1e-9) * step, step)


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 2.5 and 5, times a power of ten, that is not below."""
    power = 10.0 ** floor(log10(least))
    return next((step * power for step in (1, 2, 2.5, 5) if step * power >= least), 10 * power)


def _places(count: int) -> list[float]:
    if count == 1:
        return [(_LEFT + _RIGHT) / 2]
    return [_LEFT + 12 + (_RIGHT - _LEFT - 24) * place / (count - 1) for place in range(count)]


def _axis(scale: _Scale, unit: str) -> Iterator[str]:
    for value in scale.figures():
        y = scale.y(value)
        yield f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{_RIGHT}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_figure(value, unit)}</text>'


def _figure(value: float, unit: str) -> str:
    if unit == "%":
        return f"{100 * value:.0f} %"
    text = f"{value:.10g}" if value == 0 or value >= 1e-4 else f"{value:.3g}"
    return f"${text}" if unit == "$" else f"{text} {unit}"


def _marks(ticks: Sequence[Tick], xs: Sequence[float]) -> Iterator[str]:
    for tick, x in zip(ticks, xs, strict=True):
        if tick.letters:
            yield f'<line class="mark-line" x1="{x:.1f}" y1="{_TOP - 8}" x2="{x:.1f}" y2="{_BOTTOM}"/>'
            letters = escape(tick.letters)
            yield f'<text class="letters" x="{x:.1f}" y="{_TOP - 12}" text-anchor="middle">{letters}</text>'


def _labels(ticks: Sequence[Tick], xs: Sequence[float]) -> Iterator[str]:
    """The labels of the first run, of the last, and of as many between as have room."""
    longest = max(len(tick.label) for tick in ticks)
    most = max(int(_MOST_LABELS / (_LETTER * (longest + 3))), 2)
    step = ceil(max(len(ticks) - 1, 1) / (most - 1))
    for place in range(len(ticks) - 1, -1, -step):
        yield f'<text x="{xs[place]:.1f}" y="{_BOTTOM + 18}" text-anchor="middle">{escape(ticks[place].label)}</text>'


def _parts(line: Line, xs: Sequence[float]) -> Iterator[list[tuple[float, Point]]]:
    """The line without its gaps."""
    for is_there, group in groupby(zip(xs, line.points, strict=True), key=lambda each: each[1] is not None):
        if is_there:
            yield [(x, point) for x, point in group if point]


def _band(line: Line, xs: Sequence[float], scale: _Scale) -> str:
    bands = ""
    for part in _parts(line, xs):
        if len(part) == 1:
            ((x, point),) = part
            low, high = scale.y(point.low), scale.y(point.high)
            bands += f'<line class="whisker {_colour(line)}" x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}"/>'
        else:
            upper = [(x, scale.y(point.high)) for x, point in part]
            lower = [(x, scale.y(point.low)) for x, point in reversed(part)]
            bands += f'<polygon class="band {_colour(line)}" points="{_corners([*upper, *lower])}"/>'
    return bands


def _line(line: Line, ticks: Sequence[Tick], xs: Sequence[float], scale: _Scale) -> str:
    parts = [[(x, scale.y(point.value)) for x, point in part] for part in _parts(line, xs) if len(part) > 1]
    drawn = "".join(f'<polyline class="line {_colour(line)}" points="{_corners(part)}"/>' for part in parts)
    dots = "".join(
        f'<circle class="{"dot" if tick.asked else "dot replayed"} {_colour(line)}" cx="{x:.1f}" '
        f'cy="{scale.y(point.value):.1f}" r="{3 if len(ticks) < 40 else 1.5}"/>'
        for tick, x, point in zip(ticks, xs, line.points, strict=True)
        if point
    )
    return drawn + dots


def _corners(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _colour(line: Line) -> str:
    return f"series-{line.place % COLOURS}"


def _names(lines: Sequence[Line], xs: Sequence[float], scale: _Scale) -> Iterator[str]:
    """The name of each line at its end, none over another."""
    ends = []
    for line in lines:
        x, point = [(x, point) for x, point in zip(xs, line.points, strict=True) if point][-1]
        ends.append((scale.y(point.value), x, line))
    ends.sort(key=lambda end: end[0])
    for (y, x, line), at in zip(ends, _apart([end[0] for end in ends]), strict=True):
        yield f'<line class="lead {_colour(line)}" x1="{x + 4:.1f}" y1="{y:.1f}" x2="{_RIGHT + 2}" y2="{at:.1f}"/>'
        yield f'<text class="name {_colour(line)}" x="{_RIGHT + 5}" y="{at + 4:.1f}">{_short(line.name)}</text>'


def _apart(ys: Sequence[float]) -> list[float]:
    """The same places in their order, none nearer to the next than the gap, within the plot as far as there is room."""
    found: list[float] = []
    for y in ys:
        found.append(max(y, found[-1] + _GAP) if found else y)
    lowest = float(_BOTTOM)
    for place in range(len(found) - 1, -1, -1):
        found[place] = min(found[place], lowest)
        lowest = found[place] - _GAP
    return found


def _columns(ticks: Sequence[Tick], lines: Sequence[Line], xs: Sequence[float]) -> Iterator[str]:
    """The text of each run where a pointer is over it."""
    width = (_RIGHT - _LEFT) / max(len(ticks), 1)
    for place, (tick, x) in enumerate(zip(ticks, xs, strict=True)):
        figures = [f"{line.name}: {point.text}" for line in lines if (point := line.points[place])]
        details = "\n".join([tick.label, *figures, *([tick.details] if tick.details else [])])
        yield (
            f'<rect class="column" data-run="{escape(tick.anchor)}" x="{x - width / 2:.1f}" y="{_TOP}" '
            f'width="{width:.1f}" height="{_BOTTOM - _TOP}"><title>{escape(details)}</title></rect>'
        )


def _short(name: str) -> str:
    return escape(name if len(name) <= _NAME else f"…{name[1 - _NAME :]}")

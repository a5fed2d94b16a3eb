"""Charts as SVG: pure functions of figures. Colours are classes of the page's style, `series-0` and so on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from math import cos, floor, log10, pi, sin
from typing import Final, NamedTuple

_RADIUS: Final = 100.0
_RINGS: Final = (0.25, 0.5, 0.75, 1.0)
_LABEL: Final = 22
"""At most so many characters of a label are drawn."""
COLOURS: Final = 8
"""So many series have a colour of their own."""


class ChartSeries(NamedTuple):
    """The figures of one model, from 0 to 1, by category; None where there are none."""

    name: str
    values: Sequence[float | None]


def radar(categories: Sequence[str], series: Sequence[ChartSeries]) -> str:
    """A radar with a line for each model, of the categories in which all have figures; none for fewer than three."""
    common = [place for place in range(len(categories)) if all(each.values[place] is not None for each in series)]
    if len(common) < 3:
        return ""
    categories = [categories[place] for place in common]
    series = [each._replace(values=[each.values[place] for place in common]) for each in series]
    spokes = [_spoke(place, len(categories)) for place in range(len(categories))]
    rings = "".join(_polygon([(x * ring, y * ring) for x, y in spokes], "ring") for ring in _RINGS)
    axes = "".join(f'<line class="ring" x1="0" y1="0" x2="{x:.1f}" y2="{y:.1f}"/>' for x, y in spokes)
    lines = "".join(_series_line(each, spokes, place) for place, each in enumerate(series))
    labels = "".join(_spoke_label(name, spoke) for name, spoke in zip(categories, spokes, strict=True))
    title = f"Accuracy by category: {', '.join(each.name for each in series)}"
    return _svg("-210 -130 420 260", f"{rings}{axes}{lines}{labels}", title, "radar")


def _spoke(place: int, of: int) -> tuple[float, float]:
    angle = 2 * pi * place / of - pi / 2
    return _RADIUS * cos(angle), _RADIUS * sin(angle)


def _polygon(points: Sequence[tuple[float, float]], style: str) -> str:
    return f'<polygon class="{style}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def _series_line(series: ChartSeries, spokes: Sequence[tuple[float, float]], place: int) -> str:
    points = [(x * (value or 0), y * (value or 0)) for (x, y), value in zip(spokes, series.values, strict=True)]
    return _polygon(points, f"line series-{place % COLOURS}")


def _spoke_label(name: str, spoke: tuple[float, float]) -> str:
    x, y = spoke[0] * 1.1, spoke[1] * 1.1
    anchor = "middle" if abs(x) < 5 else "start" if x > 0 else "end"
    return f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}">{_short(name)}</text>'


def bar(share: float, low: float, high: float, place: int) -> str:
    """A share from 0 to 1 as a bar, with its interval as a line."""
    return (
        f'<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="series-{place % COLOURS}" width="{100 * share:.2f}" height="10"/>'
        f'<rect class="interval" x="{100 * low:.2f}" y="4" width="{100 * (high - low):.2f}" height="2"/></svg>'
    )


def histogram(values: Mapping[str, Sequence[float]], title: str) -> str:
    """The frequency of values, on a logarithmic scale, a row for each model."""
    found = [value for of_model in values.values() for value in of_model if value > 0]
    if not found:
        return ""
    edges = _edges(min(found), max(found))
    rows = [_row(of_model, edges, place) for place, of_model in enumerate(values.values())]
    labels = "".join(
        f'<text x="{_x(place, edges):.1f}" y="{40 * len(rows) + 14}">{escape(_figure(edges[place]))}</text>'
        for place in range(0, len(edges), max(len(edges) // 6, 1))
    )
    body = "".join(f'<g transform="translate(0 {40 * place})">{row}</g>' for place, row in enumerate(rows))
    return _svg(f"0 0 420 {40 * len(rows) + 20}", body + labels, title, "histogram")


def _edges(low: float, high: float) -> list[float]:
    """Four to a decade, from below the lowest to above the highest; at most 40."""
    first, last = floor(4 * log10(low)), floor(4 * log10(high)) + 1
    step = max((last - first) // 40, 1)
    return [10 ** (exponent / 4) for exponent in range(first, last + step, step)]


def _row(values: Sequence[float], edges: Sequence[float], place: int) -> str:
    counts = [sum(low <= value < high for value in values) for low, high in pairwise(edges)]
    most = max(*counts, 1)
    width = _x(1, edges) - _x(0, edges)
    return "".join(
        f'<rect class="series-{place % COLOURS}" x="{_x(number, edges):.1f}" y="{36 - 34 * count / most:.1f}" '
        f'width="{max(width - 1, 0.5):.1f}" height="{34 * count / most:.1f}"><title>{_figure(edges[number])} to '
        f"{_figure(edges[number + 1])}: {count:,}</title></rect>"
        for number, count in enumerate(counts)
        if count
    )


def _x(place: int, edges: Sequence[float]) -> float:
    return 420 * place / max(len(edges) - 1, 1)


def _figure(value: float) -> str:
    return f"{value:.2g}" if 0.001 <= value < 1000 else f"{value:.0e}"


def _short(text: str) -> str:
    return escape(text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…")


def _svg(box: str, body: str, title: str, style: str) -> str:
    return f'<svg class="{style}" viewBox="{box}" role="img" aria-label="{escape(title)}">{body}</svg>'

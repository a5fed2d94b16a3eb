"""The results of gates as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, TypeAlias

from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import column_count, pad

FigureKind: TypeAlias = Literal["share", "count", "dollars", "seconds", "chance"]

_WRITTEN: Mapping[FigureKind, tuple[int, int, str]] = MappingProxyType(
    {
        "share": (100, 1, "{} %"),
        "count": (1, 0, "{}"),
        "dollars": (1, 2, "${}"),
        "seconds": (1, 2, "{} s"),
        "chance": (1, 3, "p = {}"),
    }
)
"""For each kind of figure: its factor, its number of digits, and its unit."""

_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class JudgedGate:
    """A gate as it was written, its figure and bound, and whether it held; None if that is unknown."""

    text: str
    kind: FigureKind
    figure: Fraction | float | None
    bound: Fraction | float
    held: bool | None
    missing_reason: str = ""


def gate_lines(gates: Sequence[JudgedGate]) -> list[str]:
    """A line for each gate: its text, its figure, and whether it held."""
    names = [f"gate {safe_line(gate.text)}" for gate in gates]
    figures = [figure_text(gate.kind, gate.figure, gate.bound) for gate in gates]
    name_width, figure_width = max(map(column_count, names), default=0), max(map(len, figures), default=0)
    return [
        f"{pad(name, name_width)}  {figure:>{figure_width}}  {_verdict(gate)}"
        for name, figure, gate in zip(names, figures, gates, strict=True)
    ]


def figure_text(kind: FigureKind, figure: Fraction | float | None, bound: Fraction | float) -> str:
    """Write a figure with enough digits to differ from its bound."""
    if figure is None:
        return "-"
    times, digits, around = _WRITTEN[kind]
    number, other = figure * times, bound * times
    while digits < _MOST_DIGITS and number != other and round(number, digits) == round(other, digits):
        digits += 1
    return around.format(f"{float(number):,.{digits}f}")


def _verdict(gate: JudgedGate) -> str:
    if gate.held is None:
        return f"inconclusive: {gate.missing_reason}"
    return "holds" if gate.held else "does not hold"

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
_LEAST_CHANCE = 0.001
"""Smaller p-values are not written out, unless the bound is smaller, too."""


@dataclass(frozen=True, slots=True)
class JudgedGate:
    """A gate as it was written, its figure and bound, and whether it held; None if that is unknown."""

    text: str
    kind: FigureKind
    figure: Fraction | float | None
    bound: Fraction | float
    held: bool | None
    note: str = ""


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
    if kind == "chance" and figure < _LEAST_CHANCE <= bound:
        return f"p < {_LEAST_CHANCE}"
    times, digits, around = _WRITTEN[kind]
    number, other = figure * times, bound * times
    while digits < _MOST_DIGITS and number != other and round(number, digits) == round(other, digits):
        digits += 1
    return around.format(f"{float(number):,.{digits}f}")


def verdict_word(gate: JudgedGate) -> str:
    """The result of a gate, in a word or three."""
    return "inconclusive" if gate.held is None else "holds" if gate.held else "does not hold"


def _verdict(gate: JudgedGate) -> str:
    return f"{verdict_word(gate)}: {safe_line(gate.note)}" if gate.note else verdict_word(gate)

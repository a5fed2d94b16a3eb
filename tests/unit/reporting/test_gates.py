from __future__ import annotations

from fractions import Fraction

import pytest

from pytest_fcall.reporting.gates import FigureKind, JudgedGate, figure_text, gate_lines


def test_each_gate_has_a_line_with_its_figure_and_verdict() -> None:
    gates = [
        JudgedGate("accuracy>=0.9", "share", Fraction(9, 10), Fraction(9, 10), held=True),
        JudgedGate("cost<=$2", "dollars", 2.5, 2.0, held=False),
        JudgedGate("p95\x1b<=5s", "seconds", None, 5.0, held=None, note="3 replies missing"),
    ]
    assert gate_lines(gates) == [
        "gate accuracy>=0.9  90.0 %  holds",
        "gate cost<=$2        $2.50  does not hold",
        "gate p95\\x1b<=5s         -  inconclusive: 3 replies missing",
    ]
    assert gate_lines([]) == []


def test_a_note_stands_behind_the_verdict() -> None:
    gate = JudgedGate("cases>=1", "count", 2, 1, held=True, note="2 of \x1b left out")
    assert gate_lines([gate]) == ["gate cases>=1  2  holds: 2 of \\x1b left out"]


@pytest.mark.parametrize(
    ("kind", "figure", "bound", "text"),
    [
        ("share", Fraction(1799, 2000), Fraction(9, 10), "89.95 %"),
        ("share", Fraction(1, 3), Fraction(9, 10), "33.3 %"),
        ("share", Fraction(1), 1, "100.0 %"),
        ("count", 12_345, Fraction(2), "12,345"),
        ("dollars", 0.2000001, 0.2, "$0.2000001"),
        ("chance", 0.03125, 0.05, "p = 0.031"),
        ("chance", 0.0499999, 0.05, "p = 0.0499999"),
        ("chance", 2**-30, 0.05, "p < 0.001"),
        ("chance", 0.0002, 0.0001, "p = 0.0002"),
        ("seconds", 5.004, 5.0, "5.004 s"),
        ("seconds", 5.0000000000001, 5.0, "5.000000000 s"),
    ],
)
def test_a_figure_is_written_with_digits_enough_to_tell_it_from_its_bound(
    kind: FigureKind, figure: float, bound: float, text: str
) -> None:
    assert figure_text(kind, figure, bound) == text

"""The figures of the pages on intervals and on comparisons are those of the functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.core.verdict import Rate
from pytest_fcall.reporting.number_text import interval_text
from pytest_fcall.tracking.significance import RatePair, difference_interval, p_value_different, p_value_worse

EXPLANATION = Path(__file__).parents[2] / "docs/explanation"
INTERVALS, COMPARISONS = (
    (EXPLANATION / f"{name}.md").read_text(encoding="utf-8") for name in ("statistics", "comparisons")
)
RIGHT, WRONG = Rate(1, 1), Rate(0, 1)


def changed(lost: int, won: int, cases: int) -> list[RatePair]:
    return [
        *[RatePair(RIGHT, WRONG)] * lost,
        *[RatePair(WRONG, RIGHT)] * won,
        *[RatePair(RIGHT, RIGHT)] * (cases - lost - won),
    ]


@pytest.mark.parametrize(("right", "of"), [(180, 200), (5, 5)])
def test_intervals_of_an_accuracy(right: int, of: int) -> None:
    assert interval_text(right, of) in INTERVALS


@pytest.mark.parametrize(("of", "width"), [(200, 8), (1000, 4)])
def test_how_wide_intervals_are(of: int, width: int) -> None:
    low, high = map(float, interval_text(of * 9 // 10, of).strip("[]").split(","))
    assert abs(high - low - width) < 1
    assert f"{of:,}" in INTERVALS


def test_chances() -> None:
    pairs = changed(9, 2, 200)
    assert f"| p = {p_value_worse(pairs):.3f}: the gate does not hold |" in COMPARISONS
    assert f"| p = {p_value_different(pairs):.3f} |" in COMPARISONS


@pytest.mark.parametrize(("lost", "won", "cases"), [(12, 8, 200), (10, 8, 1000)])
def test_intervals_of_a_change(lost: int, won: int, cases: int) -> None:
    low, high = difference_interval(changed(lost, won, cases))
    assert f"`{100 * (won - lost) / cases:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}]`" in COMPARISONS

from __future__ import annotations

import pytest

from pytest_fcall.core.verdict import Rate
from pytest_fcall.reporting.night_watch import (
    ChangedCase,
    NightChange,
    Shift,
    WatchedModel,
    evidence_text,
    trail_text,
    watch_lines,
)


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        (0.0, "0.00"),
        (0.042, "0.04"),
        (3.14, "3.1"),
        (1234.5, "1,234"),
        (1e6, "over a million"),
        (1e300, "over a million"),
    ],
)
def test_evidence_is_written_short(evidence: float, text: str) -> None:
    assert evidence_text(evidence) == text


def test_bars_grow_by_factors_and_only_an_alarm_is_full() -> None:
    trail = [0.0, 0.01, 0.1, 1, 10, 19.9, 20, 1e300]
    assert trail_text(trail, 20, "utf-8") == "▁▁▃▅▇▇██"
    assert trail_text(trail, 20, "ascii") == "11357788"


def test_lines_are_safe_and_fit_the_terminal() -> None:
    shift = Shift(
        1e9,
        "2026-05-21 01:00",
        8,
        Rate(90, 100),
        Rate(8, 16),
        (NightChange("prompt", "a\x1b[31m tool " + "x" * 200, 3),),
        tuple(ChangedCase(f"cases/{'long/' * 30}a.fc.yaml::c{n}", Rate(9, 10), Rate(0, 2)) for n in range(7)),
    )
    model = WatchedModel(
        "m\x1b[31m", 0.05, 40, 40, "2026-05-21 01:00", (0.1,) * 100, "2026-05-21 01:00", is_new_alarm=True, fall=shift
    )
    lines = watch_lines([model], 80, "utf-8")
    assert not any("\x1b" in line for line in lines)
    assert max(map(len, lines)) <= 80
    assert "  raised on 2026-05-21 01:00, shown most plainly by the first 8 nights" in lines
    assert lines[-1] == "    and 2 more"

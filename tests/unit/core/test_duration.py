from __future__ import annotations

import pytest

from pytest_fcall.core.duration import duration_in_seconds, duration_text


@pytest.mark.parametrize(("text", "seconds"), [("30m", 1_800), ("12h", 43_200), ("7d", 604_800), ("02w", 1_209_600)])
def test_an_age_is_a_number_with_a_unit(text: str, seconds: int) -> None:
    assert duration_in_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1.5d", "7 d", "7d ", "7D", "1y", "\u0667d", "999999d"])
def test_anything_else_is_none(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"is not a duration; use minutes, hours, days or weeks, such as 30m, 12h, 7d or 2w"
    ):
        duration_in_seconds(text)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("7d", "7 days"),
        ("1d", "24 h"),
        ("60h", "60 h"),
        ("90m", "90 min"),
        ("1m", "60 s"),
        ("2w", "14 days"),
        ("0d", "0 s"),
    ],
)
def test_a_duration_is_written_exactly(given: str, text: str) -> None:
    assert duration_text(duration_in_seconds(given)) == text

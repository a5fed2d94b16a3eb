"""Number words, as `$text` reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.matching.strings import with_digits


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        ("two adults", "2 adults"),
        ("zero", "0"),
        ("nineteen", "19"),
        ("twenty-one", "21"),
        ("twenty one nights", "21 nights"),
        ("a table for four, at eight", "a table for 4, at 8"),
        ("one hundred", "100"),
        ("one hundred and five", "105"),
        ("three hundred forty-two", "342"),
        ("two thousand", "2000"),
        ("two thousand and twenty-six", "2026"),
        ("two hundred thousand three hundred and one", "200301"),
        ("two million", "2 million"),
        ("one thousand million", "1000 million"),
        ("one two three", "1 2 3"),
        ("nineteen ninety", "19 90"),
        ("sixty seven", "67"),
        ("seventy", "70"),
        ("none of the someone", "none of the someone"),
        ("tent eighty-two-year-old", "tent 82-year-old"),
        ("often", "often"),
        ("2 adults", "2 adults"),
        ("hundred", "hundred"),
        ("", ""),
    ],
)
def test_numbers_are_written_in_digits(words: str, digits: str) -> None:
    assert with_digits(words) == digits


@given(st.text("aenotwhudr -", max_size=40))
def test_digits_stay_digits(text: str) -> None:
    once = with_digits(text)
    assert with_digits(once) == once


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text", ["one thousand " * 80_000, "one hundred and " * 60_000, "twenty-" * 100_000, "a" * 1_000_000]
)
def test_a_megabyte_is_read_in_good_time(text: str) -> None:
    with_digits(text)

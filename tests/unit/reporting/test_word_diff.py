from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.reporting.word_diff import word_diff


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("You are a helpful clerk.", "You are a friendly clerk.", "You are a [-helpful-]{+friendly+} clerk."),
        ("Be brief.", "Be brief. Use tools.", "Be brief. {+Use tools.+}"),
        ("Be brief. Use tools.", "Use tools.", "[-Be brief.-] Use tools."),
        ("a b c d e f g", "a b c d e f h", "… c d e f [-g-]{+h+}"),
        ("x a b c d e f", "y a b c d e f", "[-x-]{+y+} a b c d …"),
    ],
)
def test_the_changed_words_stand_between_a_few_others(old: str, new: str, shown: str) -> None:
    assert word_diff(old, new) == shown


def test_control_characters_are_not_printed() -> None:
    assert "\x1b" not in word_diff("Be \x1b[31mred", "Be blue")


def test_a_long_difference_is_cut() -> None:
    assert len(word_diff("a " * 5000, "b " * 5000)) <= 301


@given(st.text(), st.text())
def test_any_two_texts_make_one_printable_line(old: str, new: str) -> None:
    assert "\n" not in word_diff(old, new)

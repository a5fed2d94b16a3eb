from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.reporting.safe_text import safe, safe_line

HOSTILE = st.text(st.characters(exclude_categories=[]))
"""Any code point at all, lone surrogates included."""


def invisible(text: str) -> list[str]:
    return [c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("München 天気 🌧", "München 天気 🌧"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x9b31m", "\\x9b31m"),
        ("bell\x07 nul\x00 del\x7f", "bell\\x07 nul\\x00 del\\x7f"),
        ("over\rwritten\ttab", "over\\rwritten\\ttab"),
        ("abc\u202edcba\u2066x", "abc\\u202edcba\\u2066x"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("\ud800", "\\ud800"),
        ("New\u00a0York", "New\\xa0York"),
        ("line\u2028break", "line\\u2028break"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("filler\u3164 blank\u2800 selector\ufe0f\U000e0101", "filler\\u3164 blank\\u2800 selector\\ufe0f\\U000e0101"),
    ],
)
def test_what_a_reader_would_not_see_becomes_an_escape(text: str, expected: str) -> None:
    assert safe(text) == expected
    assert safe_line(text) == expected


def test_newlines_stay_or_become_an_escape() -> None:
    assert safe("one\ntwo\r\n") == "one\ntwo\\r\n"
    assert safe_line("one\ntwo") == "one\\ntwo"


@given(HOSTILE)
def test_nothing_hidden_is_left(text: str) -> None:
    assert set(invisible(safe(text))) <= {"\n"}
    assert not invisible(safe_line(text))
    safe_line(text).encode("utf-8")


@given(HOSTILE)
def test_safe_text_stays_as_it_is(text: str) -> None:
    assert safe(safe(text, limit=10**6), limit=10**6) == safe(text, limit=10**6)


def test_the_middle_of_long_text_is_left_out_and_counted() -> None:
    text = safe("a" * 600_000 + "b" * 400_000, limit=30)
    assert text == "a" * 20 + "[999,970 characters left out]" + "b" * 10


def test_text_of_just_the_limit_is_whole() -> None:
    assert safe_line("abc", limit=3) == "abc"
    assert safe_line("abcd", limit=3) == "ab[1 characters left out]d"


@pytest.mark.timeout(60)
def test_the_limit_bounds_the_work() -> None:
    text = "\x1b\u202e" * 5_000_000
    assert len(safe(text)) < 25_000

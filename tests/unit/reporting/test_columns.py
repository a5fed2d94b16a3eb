from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.reporting.columns import columns, head, pad, shorten

PRINTABLE = st.text(st.characters(categories=["L", "N", "P", "S", "M"]))


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("天気", 4), ("cafe\u0301", 4), ("ＡＢ", 4), ("", 0), ("🌧", 1), ("🚀", 2)]
)
def test_wide_characters_take_two_columns_and_accents_none(text: str, width: int) -> None:
    assert columns(text) == width


def test_the_middle_or_the_end_is_cut() -> None:
    assert shorten("abcdefghijklmnop", 10) == "abcdef…nop"
    assert head("abcdefghijklmnop", 10) == "abcdefghi…"
    assert shorten("abcdefghijklmnop", 10, "...") == "abcde...op"
    assert shorten("fits", 4) == head("fits", 4) == "fits"


@given(PRINTABLE, st.integers(min_value=0, max_value=40), st.sampled_from(["…", "..."]))
def test_cut_text_never_takes_more_room(text: str, width: int, cut: str) -> None:
    assert columns(shorten(text, width, cut)) <= width
    assert columns(head(text, width, cut)) <= width


@given(PRINTABLE, st.integers(min_value=0, max_value=40))
def test_padded_text_takes_just_the_room(text: str, width: int) -> None:
    assert columns(pad(shorten(text, width), width)) == width

from __future__ import annotations

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.reporting.terminal import NO_END, column_count, cut_end, cut_middle, pad, table_lines, table_width

PRINTABLE = st.text(st.characters(categories=["L", "N", "P", "S", "M"]))


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("天気", 4), ("cafe\u0301", 4), ("ＡＢ", 4), ("", 0), ("🌧", 1), ("🚀", 2)]
)
def test_wide_characters_take_two_columns_and_accents_none(text: str, width: int) -> None:
    assert column_count(text) == width


def test_the_middle_or_the_end_is_cut() -> None:
    assert cut_middle("abcdefghijklmnop", 10) == "abcdef…nop"
    assert cut_end("abcdefghijklmnop", 10) == "abcdefghi…"
    assert cut_middle("abcdefghijklmnop", 10, "...") == "abcde...op"
    assert cut_middle("fits", 4) == cut_end("fits", 4) == "fits"


@given(PRINTABLE, st.integers(min_value=0, max_value=40), st.sampled_from(["…", "..."]))
def test_cut_text_never_takes_more_room(text: str, width: int, cut: str) -> None:
    assert column_count(cut_middle(text, width, cut)) <= width
    assert column_count(cut_end(text, width, cut)) <= width


@given(PRINTABLE, st.integers(min_value=0, max_value=40))
def test_padded_text_takes_just_the_room(text: str, width: int) -> None:
    assert column_count(pad(cut_middle(text, width), width)) == width


@given(st.lists(st.lists(st.text("ab", max_size=30), min_size=4, max_size=4), max_size=4), st.integers(20, 140))
def test_names_are_whole_where_the_table_has_room_and_no_table_of_some_width_is_wider(
    rows: list[list[str]], width: int
) -> None:
    whole = table_lines(("one", "two", "n", "m"), rows, texts=2, width=NO_END)
    assert not any("…" in line for line in whole)
    lines = table_lines(("one", "two", "n", "m"), rows, texts=2, width=width)
    if max(map(column_count, whole)) <= width:
        assert lines == whole
    else:
        assert all(column_count(line) <= max(width, 2 * (width // 3) + 34) for line in lines)


def test_what_is_no_terminal_has_no_right_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "72")
    assert table_width(Terminal(), 80) == 72
    assert table_width(StringIO(), 80) == NO_END

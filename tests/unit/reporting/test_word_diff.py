from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.reporting.word_diff import marked_changes, word_diff


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("You are a helpful clerk.", "You are a friendly clerk.", "You are a [-helpful-]{+friendly+} clerk."),
        ("Be brief.", "Be brief. Use tools.", "Be brief. {+Use tools.+}"),
        ("Be brief. Use tools.", "Use tools.", "[-Be brief.-] Use tools."),
        ("a b c d e f g", "a b c d e f h", "a b c d e f [-g-]{+h+}"),
        ("", "a", "{+a+}"),
        ("a", "", "[-a-]"),
        (
            "You are a clerk of the weather. If you do not know the city then ask for it. Be brief, and polite to all.",
            "You are a clerk of the weather. If you do not know the town then ask for it. Be brief, and polite to all.",
            "… If you do not know the [-city-]{+town+} then ask for it. …",
        ),
        ("One is left. Two goes now. Three is", "One is left. Three is", "One is left. [-Two goes now.-] Three is"),
    ],
)
def test_the_sentence_that_changed_is_whole_and_its_changed_words_are_marked(old: str, new: str, shown: str) -> None:
    assert word_diff(old, new) == shown


def test_of_a_long_sentence_the_words_around_the_change_are_shown() -> None:
    words = [f"w{number}" for number in range(1000)]

    shown = word_diff(" ".join(words), " ".join([*words[:500], "new", *words[501:]]))

    around = " ".join(words[480:500]), " ".join(words[501:521])
    assert shown == f"… {around[0]} [-w500-]{{+new+}} {around[1]} …"


def test_a_change_far_behind_is_found() -> None:
    words = [f"w{number}" for number in range(9000)]

    assert "w7998 w7999 {+new+} w8000 w8001" in word_diff(
        " ".join(words), " ".join([*words[:8000], "new", *words[8000:]])
    )


def test_of_a_long_row_of_changed_words_the_middle_is_counted() -> None:
    row = [f"w{number}" for number in range(5000)]

    shown = word_diff("Be brief.", f"Be brief. {' '.join(row)}")

    assert shown == f"Be brief. {{+{' '.join(row[:20])} … 4,960 words … {' '.join(row[-20:])}+}}"


def test_of_many_changes_the_last_ones_are_counted() -> None:
    old, new = (" ".join(f"{word}{number} is here." for number in range(100)) for word in "ab")

    shown = word_diff(old, new)

    assert shown.startswith("[-a0-]{+b0+} is here. [-a1-]{+b1+} is here. ")
    assert shown.endswith("[-a20-]{+b20+} is here. (and 79 more changes)")


def test_texts_without_spaces_take_no_more_room() -> None:
    assert len(word_diff("ä" * 9000, "ö" * 9000)) < 400


@pytest.mark.parametrize("new", ["Be  brief.", "Be\nbrief.", "Be brief. "])
def test_the_same_words_give_nothing(new: str) -> None:
    assert word_diff("Be brief.", new) == ""


def test_control_characters_are_not_printed() -> None:
    assert "\x1b" not in word_diff("Be \x1b[31mred", "Be blue")


@given(st.text(), st.text())
def test_any_two_texts_make_one_printable_line(old: str, new: str) -> None:
    assert "\n" not in word_diff(old, new)


@pytest.mark.parametrize(
    ("old", "new", "pieces"),
    [
        (
            "You are kind.\nBe brief.",
            "You are rude.\nBe brief.",
            [(" ", "You are "), ("-", "kind."), ("+", "rude."), (" ", "\nBe brief.")],
        ),
        ("same", "same", [(" ", "same")]),
        ("", "new words", [("+", "new words")]),
        ("gone", "", [("-", "gone")]),
        ("  a b", "  a c", [(" ", "  a "), ("-", "b"), ("+", "c")]),
    ],
)
def test_a_whole_text_is_marked_where_it_changed(old: str, new: str, pieces: list[tuple[str, str]]) -> None:
    assert marked_changes(old, new) == pieces


@given(st.text("ab \n", max_size=40), st.text("ab \n", max_size=40))
def test_marked_pieces_are_both_texts(old: str, new: str) -> None:
    pieces = marked_changes(old, new)
    assert "".join(text for sign, text in pieces if sign != "+").split() == old.split()
    assert "".join(text for sign, text in pieces if sign != "-").split() == new.split()

from __future__ import annotations

import pytest

from pytest_fcall.core.message_text import clauses, did_you_mean, list_text, plural_text, suggestion


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a"], "a"), (["a", "b", "c"], "a, b, c"), ([*"abcd"], "a, b, c and 1 more")],
)
def test_of_many_names_the_first_are_listed_and_the_others_counted(names: list[str], text: str) -> None:
    assert list_text(names) == text


def test_large_numbers_of_names_have_commas() -> None:
    assert list_text(["a"] * 1002, 2) == "a, a and 1,000 more"


def test_clauses_that_are_empty_leave_no_semicolon() -> None:
    assert clauses("no case", "", "did you mean `oslo`?") == "no case; did you mean `oslo`?"


def test_what_is_near_no_known_name_was_not_meant() -> None:
    assert did_you_mean("olso", ["oslo", "rome"]) == suggestion("oslo") == "did you mean `oslo`?"
    assert did_you_mean("berlin", ["oslo", "rome"]) == suggestion(None) == ""


@pytest.mark.parametrize(
    ("count", "nouns", "text"),
    [
        (0, ("case",), "0 cases"),
        (1, ("case",), "1 case"),
        (1, ("reply", "replies"), "1 reply"),
        (1200, ("reply", "replies"), "1,200 replies"),
    ],
)
def test_a_count_has_a_noun_in_the_singular_only_for_one(count: int, nouns: tuple[str, ...], text: str) -> None:
    assert plural_text(count, *nouns) == text

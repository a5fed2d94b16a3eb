from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core.bounded_text import glob_matches


@pytest.mark.parametrize(
    ("glob", "text"),
    [
        ("*", ""),
        ("*.city", "book.address.city"),
        ("delete_*", "delete_"),
        ("*.items[*].name", "b.items[0].name"),
        ("a*b*c", "abc"),
        ("jira__search", "jira__search"),
        ("**", "x"),
    ],
)
def test_it_fits(glob: str, text: str) -> None:
    assert glob_matches(glob, text)


@pytest.mark.parametrize(
    ("glob", "text"),
    [
        ("", "x"),
        ("delete_*", "undelete_x"),
        ("*.city", "city"),
        ("a*a", "a"),
        ("a*b*c", "acb"),
        ("?", "x"),
        ("[ab]", "a"),
        ("get", "get_weather"),
    ],
)
def test_it_does_not_fit(glob: str, text: str) -> None:
    assert not glob_matches(glob, text)


@given(st.text("ab*", max_size=8), st.text("ab", max_size=8))
def test_it_means_what_the_regular_expression_means(glob: str, text: str) -> None:
    expression = ".*".join(map(re.escape, glob.split("*")))
    assert glob_matches(glob, text) is (re.fullmatch(expression, text, re.DOTALL) is not None)

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.schema.wire_tools import wire_name, wire_names

TAKEN = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("get_weather", "get_weather"),
        ("get-weather-2", "get-weather-2"),
        ("math.factorial", "math_factorial"),
        ("jira/search issues", "jira_search_issues"),
        ("a" * 64, "a" * 64),
    ],
)
def test_a_name_keeps_what_the_wire_takes(name: str, sent: str) -> None:
    assert wire_name(name) == sent


def test_a_long_name_is_cut_and_marked() -> None:
    sent = wire_name("a" * 65)
    assert len(sent) == 64
    assert sent.startswith("a" * 55 + "_")


def test_names_that_differ_only_behind_the_cut_stay_apart() -> None:
    names = ["a" * 70, "a" * 71]
    assert list(wire_names(names).values()) == names


def test_names_in_other_scripts_stay_apart() -> None:
    names = ["天気", "予報", "été", "ete"]
    assert list(wire_names(names).values()) == names


@given(st.text(min_size=1, max_size=200))
def test_every_name_becomes_one_that_the_wire_takes_and_keeps(name: str) -> None:
    sent = wire_name(name)
    assert TAKEN.fullmatch(sent)
    assert wire_name(sent) == sent


@pytest.mark.parametrize("names", [["a.b", "a_b"], ["a_b", "a.b"], ["x y", "x/y"], ["same", "same"]])
def test_two_tools_with_one_name_on_the_wire_are_refused(names: list[str]) -> None:
    with pytest.raises(ValueError, match=f"the tools `{names[0]}` and `{names[1]}` would both be sent as"):
        wire_names(names)

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.traces.extraction import CaseNames


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("What is the weather in Oslo?", "what_is_the_weather_in_oslo"),
        ("Wie ist das Wetter in Tromsø?", "wie_ist_das_wetter_in_tromsø"),
        ("東京の天気は？", "東京の天気は"),
        ("a::b [c]\n\x00d", "a_b_c_d"),
        ("", "get_weather"),
        ("?!", "get_weather"),
        ("word " * 100, "_".join(["word"] * 10)),
    ],
)
def test_ids_are_the_first_words_of_the_question(asked: str, name: str) -> None:
    assert CaseNames().name(asked, ["get_weather"]) == name


@given(st.lists(st.sampled_from(["a", "a 2", "a 2 2", "", "A"]), max_size=30))
def test_no_two_cases_have_the_same_id(asked: list[str]) -> None:
    names = CaseNames()
    given = [names.name(each, []) for each in asked]
    assert len(set(given)) == len(given)


def test_many_equal_questions_are_numbered_in_no_time() -> None:
    names = CaseNames()
    assert [names.name("Oslo?", []) for _ in range(20_000)][-1] == "oslo_20000"


@pytest.mark.parametrize(
    ("own", "name"), [("two cities", "two cities"), ("cabin[eco]", "oslo"), ("a::b", "oslo"), ("", "oslo")]
)
def test_a_case_that_had_an_id_keeps_it_if_it_can(own: str, name: str) -> None:
    assert CaseNames().name("Oslo?", [], own) == name

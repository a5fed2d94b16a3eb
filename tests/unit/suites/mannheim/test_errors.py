from __future__ import annotations

import pytest

from pytest_fcall.core import Call, Json
from pytest_fcall.suites.mannheim.errors import error_classes
from pytest_fcall.suites.mannheim.score import score_answer

RIGHT = "{'r': 1}"


def classes(question: str, made: list[Call], path: list[Call], text: str = RIGHT, **answer: Json) -> tuple[str, ...]:
    right = answer or {"r": 1}
    return error_classes(question, made, [path], score_answer(made, [path], text, right), text, right)


def test_what_is_right_has_no_class() -> None:
    assert classes("?", [Call("f", {"n": 5})], [Call("f", {"n": 5})]) == ()


@pytest.mark.parametrize(
    ("made", "path", "named"),
    [
        ("f", "fg", "incomplete function invocation"),
        ("g", "fg", "incomplete function invocation"),
        ("h", "f", "wrong function invocation"),
        ("gf", "fg", "wrong function invocation"),
        ("hf", "f", "additional function calls"),
        ("", "f", "reliance on previous knowledge"),
    ],
)
def test_functions(made: str, path: str, named: str) -> None:
    assert classes("?", [Call(name, {}) for name in made], [Call(name, {}) for name in path]) == (named,)


@pytest.mark.parametrize(
    ("question", "given", "right", "named"),
    [
        ("Two years ago?", "2021-06-16", "2022-06-16", "date inference error"),
        ("Last June?", "01-06-2019", "01-06-19", "date inference error"),
        ("Below 505 yuan?", 505, 70, "currency and conversion error"),
        ("A week?", 1, 7, "text-to-number conversion error"),
        ("At most 9 of 70?", 70, 9, "parameter hallucination"),
        ("Call +49?", "+49", 49, "misidentification of numeric entities"),
        ("Την ποπ;", "ποπ", "Pop", "misinterpretation of non-Latin characters"),
        ("A flat?", "Entire home/apt", "Entire home apartment", "incorrect string handling"),
        ("Pizza?", "Sushi", "Pizza", "parameter hallucination"),
    ],
)
def test_values(question: str, given: Json, right: Json, named: str) -> None:
    assert classes(question, [Call("f", {"x": given})], [Call("f", {"x": right})]) == (named,)


def test_arguments_that_are_missing() -> None:
    assert classes("?", [Call("f", {})], [Call("f", {"n": 5})]) == ("incomplete parameter values",)


def test_a_list_that_is_not_passed_on_as_a_whole() -> None:
    made, path = ([Call("find", {}), Call("rate", {"names": names})] for names in (["a", "b"], ["a", "b", "c"]))
    assert classes("?", made, path) == ("list passing error",)


@pytest.mark.parametrize(
    ("question", "text", "right", "named"),
    [
        ("The average?", "{'r': 2}", 1, "arithmetic anomaly"),
        ("How many songs?", "{'r': 2}", 1, "counting discrepancy"),
        ("The average number of songs?", "{'r': 2}", 1, "arithmetic anomaly"),
        ("The third highest?", "{'r': 'x'}", "One", "sorting anomaly (numeric values)"),
        ("The latest album?", "{'r': 'x'}", "One", "sorting anomaly (dates)"),
        ("Which albums?", "{'r': ['One', 'x']}", ["One", "Two"], "multi-information retrieval error"),
        ("Which album?", "{'r': 'One (live)'}", "One (Live)", "inexact matching"),
        ("Which album?", "{'r': 'Moon'}", "Kid A", "query misinterpretation"),
        ("Which album?", "It is One.", "One", "unreadable answer"),
        ("Which album?", "{'s': 'One'}", "One", "unreadable answer"),
    ],
)
def test_answers_after_right_calls(question: str, text: str, right: Json, named: str) -> None:
    assert classes(question, [Call("f", {})], [Call("f", {})], text, r=right)[-1] == named

from __future__ import annotations

from typing import Any

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.json_files import BrokenRow
from pytest_fcall.suites.mannheim.score import score_row


def row(**fields: Any) -> dict[str, Json]:
    whole: dict[str, Json] = {
        "case": "one",
        "called": ["f"],
        "called_parameters": [{"n": 5}],
        "paths": [[["f"], [{"n": 5}]]],
        "answer": "{'a': 'x'}",
        "expected": {"ordered_items": [], "answer": {"a": "x"}},
    }
    return {**whole, **fields}


def test_a_row_is_graded() -> None:
    assert score_row(row()).as_row() == {
        "function": "Correct",
        "argument": "Correct",
        "answer": "Correct",
        "fc": 1,
        "ft": 1,
        "pc": 1,
        "pt": 1,
    }


@pytest.mark.parametrize("answer", [None, "", "x", "{'a': 'x', 'b': 1}", "{'a': 'X'}"])
def test_an_answer_that_is_none_or_another_is_incorrect(answer: str | None) -> None:
    assert score_row(row(answer=answer)).answer == "Incorrect"


def test_lists_have_an_order_where_the_case_says_so() -> None:
    answer = "{'r': [2, 1]}"
    assert score_row(row(answer=answer, expected={"ordered_items": [], "answer": {"r": [1, 2]}})).answer == "Correct"
    assert (
        score_row(row(answer=answer, expected={"ordered_items": ["r"], "answer": {"r": [1, 2]}})).answer == "Incorrect"
    )


def test_parameters_without_a_name_count_where_the_path_goes_on() -> None:
    path = [["f", "g"], [{"n": 5}, {"m": 1}]]
    scored = score_row(row(called_parameters=[{"n": 5}, {"m": 1}], paths=[path])).as_row()
    assert (scored["fc"], scored["ft"], scored["pc"], scored["pt"]) == (1, 2, 2, 2)


@pytest.mark.parametrize("parameters", [None, []])
def test_null_for_what_was_called_is_a_model_that_called_nothing(parameters: Json) -> None:
    scored = score_row(row(called=None, called_parameters=parameters)).as_row()
    assert (scored["function"], scored["argument"], scored["answer"]) == ("Incorrect", "Incorrect", "Correct")
    assert (scored["fc"], scored["ft"], scored["pc"], scored["pt"]) == (0, 1, 0, 1)


def test_a_row_that_does_not_say_what_was_called_is_none() -> None:
    with pytest.raises(BrokenRow, match="`called` is missing; a model that called nothing has null"):
        score_row({key: value for key, value in row().items() if key != "called"})


def test_a_name_without_parameters_has_none() -> None:
    scored = score_row(row(called=["f", "g"], paths=[[["f", "g"], [{"n": 5}, {"m": 1}]]])).as_row()
    assert (scored["fc"], scored["ft"], scored["pc"], scored["pt"]) == (2, 2, 1, 2)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("called", "f", "`called` must hold a list of names and a list of parameters"),
        ("called", [None], "in `called`, names must be strings, and parameters objects"),
        ("called_parameters", [1], "in `called`, names must be strings, and parameters objects"),
        ("paths", [], "`paths` is empty"),
        ("paths", {}, "`paths` must be a list"),
        ("paths", [["f"]], "`paths` must hold pairs of functions and their parameters"),
        ("answer", 1, "`answer` must be a string or null"),
        ("expected", None, "`expected` must be an object with an object `answer`"),
        ("expected", {"answer": {}}, "`ordered_items` must be a list"),
    ],
)
def test_what_is_no_row_is_told(field: str, value: Json, why: str) -> None:
    with pytest.raises(BrokenRow) as error:
        score_row(row(**{field: value}))
    assert str(error.value) == why

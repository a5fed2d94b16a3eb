from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_fcall.core import Case, Expectation, ExpectedCall, Json, Location, Tool, Turn
from pytest_fcall.retrieval import Oracle, case_question, choose_tools, expected_tools, missed_tools, tool_document

TOOLS = tuple(Tool(name) for name in ("a", "b", "c"))


def case(*expectations: Expectation | None, content: Json = "hello") -> Case:
    said = ({"role": "system", "content": "Be kind."}, {"role": "user", "content": content})
    turns = tuple(Turn(said, expectation) for expectation in expectations or (None,))
    return Case("it", Location("x.fc.yaml", 1), turns, TOOLS)


def calls(*names: str) -> Expectation:
    return Expectation(stages=(tuple(ExpectedCall(name) for name in names),))


def tools(names: str) -> Sequence[Tool]:
    return [Tool(name) for name in names]


def test_a_tool_is_found_by_name_description_and_parameters() -> None:
    parameters: dict[str, Json] = {"type": "object", "properties": {"city": {"description": "Where?"}}}
    found = tool_document(Tool("get_weather", "Forecasts.", parameters))
    assert [word in found for word in ("get_weather", "Forecasts.", "city", "Where?", "object")] == [True] * 4 + [False]


@pytest.mark.parametrize(
    "content",
    ["hello", [{"type": "text", "text": "hello"}, {"type": "image_url", "image_url": {"url": "x"}}], ["hello", None]],
)
def test_the_question_is_what_the_user_says(content: Json) -> None:
    assert case_question(case(content=content)) == "hello"


def test_tools_are_offered_the_best_first() -> None:
    assert [tool.name for tool in choose_tools(case(), Oracle([2], 3), 2)] == ["c", "a"]


@pytest.mark.parametrize(
    ("expectations", "offered", "names"),
    [
        ([calls("a", "b")], "ab", ()),
        ([calls("a", "b")], "c", ("a", "b")),
        ([calls("a"), None, calls("b", "a")], "a", ("b",)),
        ([Expectation(kind="no_call")], "", ()),
        ([Expectation(kind="any_of", alternatives=(calls("a"), calls("b")))], "b", ()),
        ([Expectation(kind="any_of", alternatives=(calls("a", "b"), calls("c")))], "", ("c",)),
        ([Expectation(stages=((ExpectedCall("a", times=(0, 1)),),))], "", ()),
        ([None], "", ()),
    ],
)
def test_what_was_to_be_called_and_not_offered_is_missed(
    expectations: list[Expectation | None], offered: str, names: tuple[str, ...]
) -> None:
    assert missed_tools(case(*expectations), tools(offered)) == names


def test_of_alternatives_the_first_is_expected() -> None:
    assert expected_tools(case(Expectation(kind="any_of", alternatives=(calls("b"), calls("a"))))) == ("b",)

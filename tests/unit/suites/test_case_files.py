"""What is written of a case is read as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.core import Case, ConversationSettings, Expectation, ExpectedCall, Location, Operator, Tool, Turn
from pytest_fcall.suites.builtin import SUITE_OPERATORS
from pytest_fcall.suites.case_files import case_file_text

TOOLS = (
    Tool("find", parameters={"type": "object", "properties": {"name": {}, "n": {"type": "number"}}}),
    Tool("buy", parameters={"type": "object", "properties": {"name": {}}}),
)
FIND = ExpectedCall("find", {"name": "tea"}, open=True)
BUY = ExpectedCall("buy", {"name": Operator("unordered", ["a", Operator("approx", 1.5, {"round": 2})])})
EXPECTATIONS = {
    "a list": Expectation(stages=((replace(FIND, open=False), BUY),)),
    "open arguments": Expectation(stages=((FIND, BUY),)),
    "any arguments": Expectation(stages=((ExpectedCall("buy", None),),)),
    "an order": Expectation(stages=((FIND, BUY),), order="strict", parallel="free"),
    "several replies": Expectation(stages=((FIND, BUY),), parallel="free"),
    "alternatives": Expectation(
        "any_of",
        alternatives=(
            Expectation(stages=((FIND,),), order="strict", parallel="free"),
            Expectation(stages=((BUY,),)),
            Expectation("no_call"),
        ),
    ),
    "no call": Expectation("no_call"),
    "any call": Expectation("any_call"),
}


def case(turn: Turn) -> Case:
    return Case("c", Location("x"), (turn,), TOOLS)


def read(text: str) -> Case:
    known = Extensions(comparators=frozenset(SUITE_OPERATORS), decoders=frozenset({"toolbench"}))
    (entry,) = read_case_text(text, Path("case.fc.yaml"), root=Path(), extensions=known).entries
    assert isinstance(entry, Case), entry
    return entry


@pytest.mark.parametrize("expect", EXPECTATIONS.values(), ids=EXPECTATIONS)
def test_expectations_are_read_as_they_were(expect: Expectation) -> None:
    asked = ({"role": "user", "content": "Tea?"},)
    assert read(case_file_text([case(Turn(asked, expect))], "title")).turns[0].expect == expect


def test_operators_of_an_answer_keep_their_options() -> None:
    answer = Operator(
        "json", {"a": Operator("ordered", [2, 1]), "b": ["x"]}, {"in": "text", "lists": "any_order", "round": 2}
    )
    turn = Turn(({"role": "system", "content": "Short."}, {"role": "user", "content": "Tea?"}), answer=answer)
    assert read(case_file_text([case(turn)], "title")).turns[0] == turn


def test_settings_decoder_and_world_are_those_of_all_cases() -> None:
    settings = ConversationSettings("shop.fake:make", {"folder": "here", "n": 1}, max_steps=7)
    asked = Turn(({"role": "user", "content": "Tea?"},), Expectation("no_call"))
    whole = replace(case(asked), settings={"stop": ["x"], "max_tokens": 5}, decoder="toolbench", conversation=settings)
    found = read(case_file_text([whole], "title"))
    assert (found.settings, found.decoder, found.conversation) == (whole.settings, "toolbench", settings)

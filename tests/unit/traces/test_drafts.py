from __future__ import annotations

from typing import Any

import pytest

from pytest_fcall.core import Json, Message, Tool
from pytest_fcall.traces.drafts import CaseDraft, draft_of
from pytest_fcall.traces.record import Record, UnusableRecord
from tests.unit.traces.support import calling, chat_call, giving, saying, user

SYSTEM: dict[str, Json] = {"role": "system", "content": "Be brief."}


def question(*trail: Message) -> CaseDraft:
    return draft_of(Record(trail, "log:1"))


def steps(made: CaseDraft) -> list[list[list[tuple[Json, str | None]]]]:
    return [[[(each.call.arguments, each.result) for each in step] for step in turn.steps] for turn in made.turns]


def test_a_call_that_answers_at_once_is_a_plain_case() -> None:
    made = question(SYSTEM, user("Oslo?"), calling())
    assert (made.system, made.earlier_messages, made.question_text) == ("Be brief.", (), "Oslo?")
    assert steps(made) == [[[({"city": "Oslo"}, None)]]]


def test_a_text_that_answers_at_once_is_a_case_without_a_call() -> None:
    made = question(user("Hi"), saying("Hello!"))
    assert steps(made) == [[]]
    assert made.answer == "Hello!"


def test_what_comes_to_an_end_is_a_conversation() -> None:
    two = calling(chat_call({"city": "Oslo"}), chat_call({"city": "Rome"}, of="c2"))
    made = question(
        user("Both?"), two, giving("20", "c2"), giving("3", "c1"), saying("3 and 20."), user("Bye"), saying("Bye!")
    )
    assert steps(made) == [[[({"city": "Oslo"}, "3"), ({"city": "Rome"}, "20")]], []]
    assert [turn.user for turn in made.turns] == ["Both?", "Bye"]


def test_results_without_ids_are_taken_in_order() -> None:
    two = calling(chat_call({"city": "Oslo"}, of=""), chat_call({"city": "Rome"}, of=""))
    made = question(user("Both?"), two, giving("3", ""), giving("20", ""), saying("Well."))
    assert steps(made) == [[[({"city": "Oslo"}, "3"), ({"city": "Rome"}, "20")]]]


@pytest.mark.parametrize(
    "trail",
    [
        (user("Oslo?"), calling(), giving("3"), calling(chat_call({"city": "Rome"}))),
        (user("Oslo?"), calling(), saying("Never mind."), user("Rome?"), calling()),
        (user("Oslo?"), user("Please!"), calling()),
        ({"role": "developer", "content": "Be brief."}, user("Oslo?"), calling()),
        (saying("Hello, how can I help?"), user("Oslo?"), calling()),
    ],
    ids=["goes-on", "unanswered", "twice", "developer", "greeting"],
)
def test_what_is_no_plain_to_and_fro_is_a_case_about_the_last_answer(trail: tuple[Message, ...]) -> None:
    made = question(*trail)
    assert made.earlier_messages == trail[:-1]
    assert len(steps(made)[0]) == 1
    assert steps(made)[0][0][0][1] is None


@pytest.mark.parametrize(
    ("trail", "why"),
    [
        ((), "no user message"),
        ((saying("Hello"),), "no user message"),
        ((user("Oslo?"),), "no answer"),
        ((user("Oslo?"), saying("  ")), "the answer is empty"),
        ((user("Oslo?"), calling({**chat_call(), "function": {"name": "f", "arguments": "{"}})), "cannot be read"),
        ((user("Oslo?"), saying('<tool_call>{"name": "f", "arguments": {}}</tool_call>')), "cannot be read"),
    ],
)
def test_what_no_case_can_be_made_of_is_said(trail: tuple[Message, ...], why: str) -> None:
    with pytest.raises(UnusableRecord, match=why):
        question(*trail)


def test_a_tool_that_was_not_offered_is_no_example_to_follow() -> None:
    record = Record((user("Oslo?"), calling()), "log:1", tools=(Tool("search"),))
    with pytest.raises(UnusableRecord, match="'get_weather', which was not offered"):
        draft_of(record)


def test_values_that_no_file_can_hold_are_refused() -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    with pytest.raises(UnusableRecord, match="nested"):
        question(user("Oslo?"), {**saying("x"), "extra": deep})


def test_what_a_developer_says_first_is_the_system_prompt_of_a_conversation() -> None:
    trail = ({"role": "developer", "content": "Be brief."}, user("Oslo?"), calling(), giving("3"), saying("Cold."))
    question = draft_of(Record(trail, "a.jsonl:1"))
    assert (question.system, question.earlier_messages) == ("Be brief.", ())

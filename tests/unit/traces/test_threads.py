from __future__ import annotations

import random

import pytest

from pytest_fcall.core import Message
from pytest_fcall.traces.extraction import JoinedConversations
from pytest_fcall.traces.record import Record
from tests.unit.traces.support import calling, chat_call, giving, saying, user

WHOLE: tuple[Message, ...] = (
    user("Oslo?"),
    calling(),
    giving("3"),
    saying("Cold."),
    user("Thanks"),
    saying("Welcome."),
)
STEPS = [Record(WHOLE[:length], f"log:{length}") for length in (2, 4, 6)]


def joined(*records: Record) -> list[Record]:
    threads = JoinedConversations()
    for record in records:
        threads.take(record)
    return list(threads)


@pytest.mark.parametrize("seed", range(6))
def test_answers_that_go_on_from_each_other_are_one_record_in_whatever_order(seed: int) -> None:
    shuffled = random.Random(seed).sample(STEPS, 3)  # noqa: S311  # no secret hangs on it
    assert [record.place for record in joined(*shuffled)] == ["log:6"]


def test_other_conversations_stay() -> None:
    other = Record((user("Rome?"), saying("Warm.")), "log:9")
    assert len(joined(*STEPS, other)) == 2


def test_other_answers_to_the_same_question_stay() -> None:
    assert len(joined(Record((user("Oslo?"), saying("a")), "1"), Record((user("Oslo?"), saying("b")), "2"))) == 2


def test_a_system_message_that_tells_the_time_joins_all_the_same() -> None:
    timed = [
        Record(({"role": "system", "content": f"It is {n}."}, *step.trail), step.place) for n, step in enumerate(STEPS)
    ]
    assert [record.place for record in joined(*timed)] == ["log:6"]


def test_ids_and_spelling_of_calls_count_for_nothing() -> None:
    again = {**calling(chat_call(of="other")), "content": ""}
    again["tool_calls"] = [
        {**chat_call(of="other"), "function": {"name": "get_weather", "arguments": '{ "city":"Oslo" }'}}
    ]
    longer = Record((user("Oslo?"), again, giving("3", "other"), saying("Cold.")), "log:2")
    assert [record.place for record in joined(STEPS[0], longer)] == ["log:2"]


def test_of_equal_answers_the_last_counts() -> None:
    threads = JoinedConversations()
    for place in ("a", "b", "c"):
        threads.take(Record(WHOLE[:2], place))
    assert [record.place for record in threads] == ["c"]
    assert threads.equal == 2


def test_what_goes_on_from_an_answer_that_the_provider_kept_is_joined() -> None:
    system = {"role": "system", "content": "Be brief."}
    first = Record((system, *WHOLE[:2]), "1", id="r1")
    second = Record((system, *WHOLE[2:4]), "2", id="r2", after="r1")
    third = Record((system, *WHOLE[4:]), "3", after="r2")
    (record,) = joined(first, second, third)
    assert record.trail == (system, *WHOLE)

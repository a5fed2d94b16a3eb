from __future__ import annotations

import gc
import random
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Json, Message
from pytest_fcall.traces.case_files import WrittenFile, write_case_files
from pytest_fcall.traces.drafts import CaseDraft, draft_of
from pytest_fcall.traces.extraction import CaseNames, Extraction, JoinedConversations, NearDuplicateFinder
from pytest_fcall.traces.masking import Masker
from pytest_fcall.traces.record import Record
from tests.by_night import by_night
from tests.unit.traces.support import OSLO, calling, chat_call, chat_log, giving, saying, user, write_lines

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
    conversations = JoinedConversations()
    for record in records:
        conversations.add(record)
    return list(conversations)


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
        Record(({"role": "system", "content": f"It is {n}."}, *step.messages), step.place)
        for n, step in enumerate(STEPS)
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
    conversations = JoinedConversations()
    for place in ("a", "b", "c"):
        conversations.add(Record(WHOLE[:2], place))
    assert [record.place for record in conversations] == ["c"]
    assert conversations.repeated_answers == 2


def test_what_goes_on_from_an_answer_that_the_provider_kept_is_joined() -> None:
    system = {"role": "system", "content": "Be brief."}
    first = Record((system, *WHOLE[:2]), "1", id="r1")
    second = Record((system, *WHOLE[2:4]), "2", id="r2", previous_id="r1")
    third = Record((system, *WHOLE[4:]), "3", previous_id="r2")
    (record,) = joined(first, second, third)
    assert record.messages == (system, *WHOLE)


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
    assert CaseNames().new_name(asked, ["get_weather"]) == name


@given(st.lists(st.sampled_from(["a", "a 2", "a 2 2", "", "A"]), max_size=30))
def test_no_two_cases_have_the_same_id(asked: list[str]) -> None:
    names = CaseNames()
    given = [names.new_name(each, []) for each in asked]
    assert len(set(given)) == len(given)


def test_many_equal_questions_are_numbered_in_no_time() -> None:
    names = CaseNames()
    assert [names.new_name("Oslo?", []) for _ in range(20_000)][-1] == "oslo_20000"


@pytest.mark.parametrize(
    ("own", "name"), [("two cities", "two cities"), ("cabin[eco]", "oslo"), ("a::b", "oslo"), ("", "oslo")]
)
def test_a_case_that_had_an_id_keeps_it_if_it_can(own: str, name: str) -> None:
    assert CaseNames().new_name("Oslo?", [], own) == name


def alive(kind: type) -> int:
    """The number of objects of a class that somebody holds."""
    gc.collect()
    return sum(type(each) is kind for each in gc.get_objects())


def many_requests(folder: Path, count: int) -> Extraction:
    rows = [chat_log([user(f"City {n}?")], calling(chat_call({"city": f"City {n}"}))) for n in range(count)]
    return Extraction([write_lines(folder / "log.jsonl", *rows)], Masker())


def test_records_and_drafts_do_not_wait_in_memory(tmp_path: Path) -> None:
    others = alive(Record) + alive(CaseDraft)
    extraction = many_requests(tmp_path, 60)
    held = [alive(Record) + alive(CaseDraft) - others for _ in islice(extraction.cases(), 0, 60, 20)]
    assert len(held) == 3
    assert max(held) <= 4


def test_no_more_cases_are_held_than_a_file_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fcall.traces.case_files._MOST_CASES", 10)
    cases = many_requests(tmp_path, 40).cases()
    written = [(each, alive(CaseDraft)) for each in write_case_files(cases, tmp_path / "out", "log")]
    assert [each.cases for each, _ in written if isinstance(each, WrittenFile)] == [10, 10, 10, 10]
    assert max(held for _, held in written) <= 20


def question(text: str, arguments: Json = OSLO) -> CaseDraft:
    return draft_of(Record((user(text), calling(chat_call(arguments))), "log:1"))


def test_the_same_calls_for_nearly_the_same_words_are_near_duplicates() -> None:
    near = NearDuplicateFinder()
    assert near.find_or_remember(question("What is the weather in Oslo today"), "a") is None
    assert near.find_or_remember(question("what is the weather in Oslo, today?"), "b") == "a"
    assert near.find_or_remember(question("What is the weather in Oslo today please"), "c") == "a"


def test_other_words_or_other_calls_are_none() -> None:
    near = NearDuplicateFinder()
    assert near.find_or_remember(question("What is the weather in Oslo today"), "a") is None
    assert near.find_or_remember(question("What is the weather in Rome today", {"city": "Rome"}), "b") is None
    assert near.find_or_remember(question("Do I need an umbrella?"), "c") is None


@pytest.mark.parametrize("count", [1_000, by_night(5_000)])
def test_many_with_the_same_calls_are_compared_in_no_time(count: int) -> None:
    near = NearDuplicateFinder()
    twins = [near.find_or_remember(question(f"One{n} two{n} three{n} four{n} five{n}"), str(n)) for n in range(count)]
    assert not any(twins)

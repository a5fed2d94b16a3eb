from __future__ import annotations

from pytest_fcall.core import Json
from pytest_fcall.traces.drafts import CaseDraft, draft_of
from pytest_fcall.traces.extraction import NearDuplicateFinder
from pytest_fcall.traces.record import Record
from tests.unit.traces.support import OSLO, calling, chat_call, user


def question(text: str, arguments: Json = OSLO) -> CaseDraft:
    return draft_of(Record((user(text), calling(chat_call(arguments))), "log:1"))


def test_the_same_calls_for_nearly_the_same_words_are_twins() -> None:
    near = NearDuplicateFinder()
    assert near.twin(question("What is the weather in Oslo today"), "a") is None
    assert near.twin(question("what is the weather in Oslo, today?"), "b") == "a"
    assert near.twin(question("What is the weather in Oslo today please"), "c") == "a"


def test_other_words_or_other_calls_are_none() -> None:
    near = NearDuplicateFinder()
    assert near.twin(question("What is the weather in Oslo today"), "a") is None
    assert near.twin(question("What is the weather in Rome today", {"city": "Rome"}), "b") is None
    assert near.twin(question("Do I need an umbrella?"), "c") is None


def test_many_with_the_same_calls_are_compared_in_no_time() -> None:
    near = NearDuplicateFinder()
    twins = [near.twin(question(f"One{n} two{n} three{n} four{n} five{n}"), str(n)) for n in range(5_000)]
    assert not any(twins)

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from pytest_fcall.core.expectation import Language
from pytest_fcall.decoding.bfcl.decoders import decode_format, decode_prompt
from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.decoding.bfcl.structured_calls import decode_native
from pytest_fcall.matching.bfcl.checker import check_answer, check_undecodable
from pytest_fcall.matching.bfcl.official_case import OfficialCase
from tests.conformance.conftest import Held
from tests.conformance.generated.questions import KINDS, questions, suite_of
from tests.conformance.official.client import PYTHON, Answer, OfficialJudge, Question
from tests.conformance.official.suite import Suite, read_suite

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="the official checker is not installed: make conformance")


@pytest.fixture(scope="module")
def official(held: Held) -> Iterator[OfficialJudge]:
    with OfficialJudge() as judge:
        yield judge
    held(
        "BFCL",
        "decoding, verdict and error type of single turns",
        "the official checker, on made-up answers",
        judge.asked,
    )


@pytest.fixture(scope="module")
def suite() -> Suite:
    return read_suite()


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_both_judges_say_the_same(kind: str, data: st.DataObject, official: OfficialJudge, suite: Suite) -> None:
    question = data.draw(questions(kind, suite_of(kind, suite)))
    answer = official.answer(question)
    note(f"official: {answer}")
    assert ours(question) == answer


def test_the_suite_is_whole(suite: Suite) -> None:
    assert len(suite) == 3641


@pytest.mark.parametrize("source", ["len('abc') + 1", "1 + max(2, 3)", "print('here') or 1 + abs(-1)"])
def test_only_the_official_decoder_runs_what_it_reads(source: str, official: OfficialJudge) -> None:
    """The one difference that is meant: an answer is data, whatever it would compute."""
    question = Question("irrelevance", [], [], "prompt", f"[f(a={source})]")
    assert ours(question).decoded is None


def ours(asked: Question) -> Answer:
    # Both read it from JSON, whose reader makes every NaN the same object, so that lists with it can be equal.
    question = Question(**json.loads(json.dumps(asdict(asked))))
    exam = OfficialCase(
        question.category, question.functions, question.truth, language_of(question), question.underscored
    )
    try:
        decoded = decode(question)
    except Undecodable as error:
        shown, ruling = None, check_undecodable(exam, str(error))
    else:
        shown, ruling = repr(decoded), check_answer(exam, decoded)
    return Answer(shown, ruling.valid, ruling.error_type)


def decode(question: Question) -> object:
    if question.style == "calls":
        return question.raw
    if question.style == "fc":
        return decode_native(question.raw)
    language = language_of(question)
    if question.format is not None:
        return decode_format(question.raw, question.format, tags=question.tags, language=language)
    return decode_prompt(question.raw, language)


def language_of(question: Question) -> Language:
    if "javascript" in question.category:
        return "javascript"
    return "java" if "java" in question.category else "python"

"""Answers of agents are judged as the official checker judges them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Json
from pytest_fcall.suites.bfcl.agentic import AgenticJudge, agentic_judge_of
from pytest_fcall.suites.bfcl.answers import AnswerForm
from pytest_fcall.suites.bfcl.categories import CATEGORIES
from pytest_fcall.suites.bfcl.rows import current_rows
from tests.conformance.conftest import Held
from tests.conformance.official.client import PYTHON, OfficialJudge, Question, Style
from tests.conformance.official.conversations import DATA

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="the official checker is not installed: make conformance")

FORMS: dict[Style, AnswerForm] = {"fc": "fc", "prompt": "prompt"}
WORDS = (
    "35",
    "thirty",
    "five",
    "C++",
    "$5",
    "-5",
    "5.",
    "O'Neil",
    'o"neil',
    "Zürich",
    "(x)",
    "a_b",
    "St. Gallen",
    "1,000",
)
ANSWERS = st.lists(st.sampled_from([*WORDS, "thirty five", "Neil", "1000", "gallen", ""]), max_size=3)
MESSAGES = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join) | st.sampled_from(
    ["[look()]", "look()", "[]", "{'answer': '35', 'context': 'x'}", "`35`", "35\n", "x35", "35x"]
)
UNREADABLE: list[Any] = [[{"look": "{"}], [{"look": "35"}], None, "", {}]
NATIVE: st.SearchStrategy[Any] = st.sampled_from([[], [{"look": "{}"}], [{"look": {}}], *UNREADABLE])
TURNS: dict[Style, st.SearchStrategy[list[Any]]] = {
    "prompt": st.lists(MESSAGES, max_size=4),
    "fc": st.lists(MESSAGES | NATIVE, max_size=4),
}


@pytest.fixture(scope="module")
def official(held: Held) -> Iterator[OfficialJudge]:
    with OfficialJudge() as judge:
        yield judge
    held("BFCL", "verdict and error type of agents", "the official checker, on made-up answers", judge.asked)


def agree(said: Json, style: Style, answers: Sequence[str], official: OfficialJudge) -> None:
    answer = official.answer(Question("memory_kv", [], answers, style, said))
    verdict = AgenticJudge({}, answers).verdict_on_result(json.loads(json.dumps(said)), FORMS[style])
    assert (verdict.valid, verdict.error_type) == (answer.valid, answer.error_type)


@pytest.mark.parametrize("style", ["fc", "prompt"])
@given(data=st.data())
def test_both_judges_say_the_same(style: Style, data: st.DataObject, official: OfficialJudge) -> None:
    agree([data.draw(TURNS[style])], style, data.draw(ANSWERS), official)


@pytest.mark.parametrize("said", ["Error", None, [], [[], []], {}])
def test_what_is_no_list_of_one_turn_is_an_error_of_the_inference(said: Json, official: OfficialJudge) -> None:
    agree(said, "fc", ["35"], official)


@pytest.mark.parametrize(
    ("category", "count"),
    [("web_search_base", 100), ("web_search_no_snippet", 100), ("memory_kv", 155), ("memory_vector", 155)],
)
def test_every_case_can_be_judged(category: str, count: int, official: OfficialJudge) -> None:
    rows = list(current_rows(CATEGORIES[category], DATA))
    assert len(rows) == count
    for row in rows:
        assert row.id.startswith(f"{category}_")
        answers = agentic_judge_of(row.data).answers
        agree([[f"It is {answers[0]}, I think."]], "prompt", answers, official)

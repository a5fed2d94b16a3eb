from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from pytest_fcall.core import (
    Call,
    CallResult,
    Calls,
    Case,
    EarlierCases,
    FaultyCase,
    Json,
    Location,
    RawCall,
    Reply,
    Request,
    Step,
    Transcript,
    TranscriptTurn,
)
from pytest_fcall.suites.bfcl.agentic import AgenticJudge
from pytest_fcall.suites.bfcl.answers import AnswerForm
from pytest_fcall.suites.bfcl.case_index import CaseIndex
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.unit.suites.bfcl.multi_turn.package import case_row, write_package

SEARCH: list[Json] = [{"search_engine_query": '{"keywords": "tea"}'}]


def error_of(result: Json, *answers: str, form: AnswerForm = "fc") -> str | None:
    return AgenticJudge({}, answers).verdict_on_result(result, form).error_type


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("{'answer': 'Zhang Yiming', 'context': 'x'}", "Zhang Yiming"),
        ("It is ZHANG-YIMING.", "zhangyiming"),
        ("It is O'Neil", 'o"neil'),
        ("About 1,000 of them", "1000"),
        ("thirty five", "35|thirty five"),
    ],
)
def test_an_answer_is_mentioned_whatever_its_case_and_punctuation(said: str, answer: str) -> None:
    assert error_of([[SEARCH, said]], *answer.split("|")) is None


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ([["It is 351."]], "answer_not_found"),
        ([["35", "I do not know."]], "answer_not_found"),
        ([["35", SEARCH]], None),
        ([[SEARCH]], "no_last_message"),
        ([[]], "no_last_message"),
        ([["35", ""]], "no_last_message"),
        ([[[{"35": "{"}]]], None),
        ([["35"], ["35"]], "inference_error"),
        ("35", "inference_error"),
        ([35], "no_last_message"),
    ],
)
def test_the_last_message_counts(result: Json, error: str | None) -> None:
    assert error_of(result, "35") == (error and f"agentic:{error}")


def test_what_reads_as_a_call_is_no_message() -> None:
    assert error_of([["[look(a=35)]"]], "35", form="prompt") == "agentic:no_last_message"
    assert error_of([["[look(a=35)]"]], "35", form="fc") is None


ASKED = Request(({"role": "user", "content": "How old am I?"},))
QUESTIONED = Case("case", Location("", 1), ())


def test_a_conversation_is_judged_by_its_last_message() -> None:
    steps = Step(ASKED, Reply(tool_calls=(RawCall("look", "{}"),)), Calls()), Step(ASKED, Reply("You are 35."), Calls())
    judge = AgenticJudge({}, ["35"])
    assert judge(QUESTIONED, Transcript((TranscriptTurn(steps, "answered"),))).valid
    assert not judge(QUESTIONED, Transcript((TranscriptTurn(steps[:1], "answered"),))).valid


def test_an_app_says_its_answer_after_its_calls() -> None:
    reply = Reply("35", (RawCall("look", "{}"),), trail=({"role": "assistant", "content": "35"},))
    step = Step(Request(({"role": "user", "content": "?"},)), reply, Calls((Call("look", {}),)))
    case = Case("case", Location("", 1), ())
    assert AgenticJudge({}, ["35"])(case, Transcript((TranscriptTurn((step,), "answered"),))).valid
    assert AgenticJudge({}, ["35"])(
        case, Transcript((TranscriptTurn((replace(step, calls=Calls()),), "answered"),))
    ).valid


QUESTION = case_row(question=[[{"role": "user", "content": "Who?"}]], ground_truth=["Me"])


def test_questions_of_one_file_are_asked_in_several_categories(tmp_path: Path) -> None:
    data = write_package(tmp_path, {"web_search": [{**QUESTION, "id": "web_search_0"}]})
    base, without = (case for part in ("base", "no_snippet") for case in BfclSuite().cases(f"web_search_{part}", data))
    assert isinstance(base, Case)
    assert (base.id, without.id) == ("web_search_base_0", "web_search_no_snippet_0")
    assert [message["content"] for message in base.turns[0].messages] == ["Answer in short.", "Who?"]
    assert [tool.name for tool in base.tools] == ["search_engine_query"]
    (prompted,) = BfclSuite().prompted("web_search_base", data)
    assert isinstance(prompted, Case)
    assert str(prompted.turns[0].messages[0]["content"]).endswith("\n\nAnswer in short.")


EARLIER = replace(QUESTIONED, earlier=EarlierCases((replace(QUESTIONED, id="before"),), "<slot>"))


@pytest.mark.parametrize(
    ("end", "results", "told"),
    [
        ("step_limit", [CallResult("{}")], "; the earlier conversation before was cut off at the step limit"),
        ("answered", [], "; in the earlier conversations no tool was called, so the memory is empty"),
        (
            "answered",
            [CallResult('{"error": "full"}'), CallResult("Error during execution: x")],
            "all 2 calls failed",
        ),
        ("answered", [CallResult('{"error": "full"}'), CallResult('{"status": "added"}')], None),
    ],
)
def test_what_went_wrong_before_the_question_is_told(
    end: Literal["answered", "step_limit"], results: list[CallResult], told: str | None
) -> None:
    step = Step(ASKED, Reply(""), Calls(tuple(Call("add", {}) for _ in results)), tuple(results))
    last = Step(ASKED, Reply("I do not know."), Calls())
    transcript = Transcript((TranscriptTurn((last,), "answered"),), (Transcript((TranscriptTurn((step,), end),)),))
    (reason,) = AgenticJudge({}, ["35"])(EARLIER, transcript).reasons
    assert told in reason.message if told else reason.message.endswith("'35'")
    (reason,) = AgenticJudge({}, ["35"])(QUESTIONED, transcript).reasons
    assert reason.message.endswith("'35'")


@pytest.mark.parametrize("truth", ["Me", [1], None])
def test_a_question_without_texts_for_answers_is_faulty(tmp_path: Path, truth: Json) -> None:
    row = {**QUESTION, "id": "web_search_0", "ground_truth": truth}
    (case,) = BfclSuite().cases("web_search_base", write_package(tmp_path, {"web_search": [row]}))
    assert isinstance(case, FaultyCase)


def test_stored_answers_find_their_question_by_the_category(tmp_path: Path) -> None:
    book = CaseIndex(write_package(tmp_path, {"memory": [{**QUESTION, "id": "memory_0-customer-0"}]}))
    judge = book.conversation_judge({"category": "memory_rec_sum", "id": "memory_rec_sum_0-customer-0"})
    assert isinstance(judge, AgenticJudge)
    assert judge.answers == ["Me"]


def test_the_classes_are_not_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bfcl_eval", None)
    data = write_package(tmp_path, {"web_search": [{**QUESTION, "id": "web_search_0"}]})
    assert len(list(BfclSuite().cases("web_search", data.parent))) == 2

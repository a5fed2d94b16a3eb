"""What apps return in the forms of frameworks: their calls are judged, and what is not understood is an error."""

from __future__ import annotations

import json
from typing import Any

import pytest

import pytest_fcall.backends.apps.agents.langchain
import pytest_fcall.backends.apps.answers.ai_sdk
import pytest_fcall.backends.apps.answers.shapes
import pytest_fcall.backends.apps.http  # noqa: F401
from tests.integration.conftest import Shop
from tests.integration.exam import Exam, assert_errors
from tests.servers import Answer

APP = """
from types import SimpleNamespace as Object

ASKED = {{"role": "user", "content": "Weather in Oslo?"}}


def answer(request):
    return {answer}
"""
CASES = """
    cases:
      - {id: called, prompt: Weather in Oslo?, expect: [get_weather: {city: Oslo}]}
      - {id: uncalled, prompt: Weather in Oslo?, expect: no_call}
      - {id: never, prompt: Weather in Oslo?, expect: {calls: [], never: [get_weather]}}
"""
AI_SDK: list[dict[str, Any]] = [
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "tool-call", "toolCallId": "1", "toolName": "get_weather", "input": {"city": "Oslo"}},
        ],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "1",
                "toolName": "get_weather",
                "output": {"type": "json", "value": {"temperature": -3}},
            }
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "It is cold."}]},
]
GENERATED = {
    "steps": [
        {"content": AI_SDK[0]["content"], "finishReason": "tool-calls", "toolCalls": []},
        {"content": [{"type": "text", "text": "It is cold."}], "finishReason": "stop"},
    ]
}
ANTHROPIC = """[
    ASKED,
    {
        "role": "assistant",
        "content": [
            Object(type="text", text="Let me look."),
            Object(type="tool_use", id="1", name="get_weather", input={"city": "Oslo"}),
        ],
    },
]"""
LANGGRAPH = """{
    "messages": [
        Object(type="human", content="Weather in Oslo?"),
        Object(type="ai", content="", tool_calls=[{"name": "get_weather", "args": {"city": "Oslo"}, "id": "1"}]),
        Object(type="tool", content="cold", tool_call_id="1"),
        Object(type="ai", content="It is cold.", tool_calls=[]),
    ]
}"""


def returning(shop: Shop, answer: str) -> pytest.RunResult:
    shop.file("mind.py", APP.format(answer=answer))
    return shop.run("--fc-model=python:mind:answer")


@pytest.mark.parametrize("answer", [repr(AI_SDK), repr(GENERATED), ANTHROPIC, LANGGRAPH])
def test_a_call_in_the_form_of_a_framework_is_judged(shop: Shop, answer: str) -> None:
    shop.cases(CASES)
    result = returning(shop, answer)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*uncalled*", "*get_weather*"])


def test_a_part_that_is_not_understood_is_an_error_and_never_an_answer_without_calls(shop: Shop) -> None:
    shop.cases(CASES)
    parts = [{"type": "text", "text": "It is cold."}, {"type": "novel-call", "name": "get_weather"}]
    result = returning(shop, repr([{"role": "user", "content": "x"}, {"role": "assistant", "content": parts}]))
    result.assert_outcomes(errors=3)
    place = "messages?1?.content?1? is of the type 'novel-call' (dict); understood: *"
    assert_errors(result, *[f"python:mind:answer: the app returned an answer that is not understood: {place}"] * 3)


@pytest.mark.parametrize(
    "answer",
    [AI_SDK, GENERATED, {"response": {"messages": AI_SDK}}, {"text": "", "toolCalls": AI_SDK[0]["content"][1:]}],
)
def test_an_app_over_http_may_answer_with_messages_of_the_ai_sdk(exam: Exam, answer: object) -> None:
    exam.shop.cases(CASES)
    exam.always(Answer(json.dumps(answer).encode()))
    exam.shop.run(f"--fc-model=http:{exam.server.url}/chat").assert_outcomes(passed=1, failed=2)


def test_an_app_over_http_that_answers_with_an_unknown_form_is_an_error(exam: Exam) -> None:
    exam.shop.cases(CASES)
    exam.always(
        Answer(
            json.dumps({"text": "It is cold.", "made": [{"tool_use": {"city": "Oslo"}}], "role": "assistant"}).encode()
        )
    )
    url = f"{exam.server.url}/chat"
    result = exam.shop.run(f"--fc-model=http:{url}")
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(["*made is not read, and holds 'tool_use', which may be a call*"])

"""Spans as OpenInference's instrumentations of OpenAI's and Anthropic's libraries write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from pytest_fcall.traces.drafts import draft_of
from tests.unit.traces.formats.test_otel import batch
from tests.unit.traces.support import (
    ANTHROPIC_TOOL,
    CHAT_TOOL,
    FLAT_TOOL,
    calls_in,
    read_all,
    read_one,
    roles,
    user,
    write_lines,
)

BOTH = [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Rome"})]


def arguments(city: str) -> str:
    return json.dumps({"city": city})


def item(city: str) -> dict[str, Json]:
    """A call as Responses gives it."""
    return {"type": "function_call", "call_id": city, "name": "get_weather", "arguments": arguments(city)}


def said(text: str) -> dict[str, Json]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def bodies(request: dict[str, Json], answer: dict[str, Json]) -> dict[str, Json]:
    return {"input.value": json.dumps(request), "output.value": json.dumps(answer)}


def responses(output: Sequence[Json], given: Json = "Oslo and Rome?") -> dict[str, Json]:
    """The bodies of Responses."""
    request: dict[str, Json] = {"model": "m", "input": given, "instructions": "Be brief.", "tools": [FLAT_TOOL]}
    return bodies(
        {**request, "temperature": 0}, {"object": "response", "model": "m-1", "status": "completed", "output": output}
    )


def flat(prefix: str, *messages: dict[str, Json]) -> dict[str, Json]:
    return {
        f"llm.{prefix}_messages.{number}.message.{name}": value
        for number, message in enumerate(messages)
        for name, value in message.items()
    }


def call(city: str, at: str = "tool_calls.0") -> dict[str, Json]:
    return {
        f"{at}.tool_call.id": city,
        f"{at}.tool_call.function.name": "get_weather",
        f"{at}.tool_call.function.arguments": arguments(city),
    }


def part(kind: str, text: str, number: int = 0) -> dict[str, Json]:
    at = f"contents.{number}.message_content"
    return {f"{at}.type": kind, f"{at}.text": text}


ASKED = flat("input", {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Oslo and Rome?"})
SCHEMA: dict[str, Json] = {
    # The library writes every field that it knows.
    "llm.tools.0.tool.json_schema": json.dumps({**FLAT_TOOL, "async_": None, "output_schema": None})  # type: ignore[dict-item]
}
RESPONSES = {
    **ASKED,
    **flat(
        "output",
        {"role": "assistant", **part("reasoning", "Two cities.")},
        {"role": "assistant", **part("text", "I look.")},
        {"role": "assistant", **call("Oslo")},
        {"role": "assistant", **call("Rome")},
    ),
    **SCHEMA,
    "llm.invocation_parameters": json.dumps({"model": "m", "temperature": 0}),
    "openinference.span.kind": "LLM",
}
ANTHROPIC = {
    **ASKED,
    **flat(
        "output",
        {
            "role": "assistant",
            **part("reasoning", "Two cities."),
            **part("text", "I look.", 1),
            **call("Oslo"),
            **call("Rome", "tool_calls.1"),
            **part("tool_use", "", 2),
            **call("Oslo", "contents.2"),
            **part("tool_use", "", 3),
            **call("Rome", "contents.3"),
        },
    ),
    "llm.tools.0.tool.json_schema": json.dumps(ANTHROPIC_TOOL),
    "llm.invocation_parameters": '{"temperature": 0}',
}
REASONING: Json = {"type": "reasoning", "id": "r", "summary": []}
WHOLE = {**RESPONSES, **responses([REASONING, said("I look."), item("Oslo"), item("Rome")])}


@pytest.mark.parametrize(
    "told", [RESPONSES, ANTHROPIC, WHOLE], ids=["responses-attributes", "anthropic-attributes", "responses-bodies"]
)
def test_parallel_calls_texts_and_schemas_are_read(tmp_path: Path, told: dict[str, Json]) -> None:
    record = read_one(tmp_path, batch(told))
    assert calls_in(record) == BOTH
    assert roles(record.messages) == ["system", "user", "assistant"]
    assert record.messages[-1]["content"] == "I look."
    assert record.tools[0].parameters["required"] == ["city"]
    assert record.settings == {"temperature": 0}


def test_a_conversation_by_responses_is_read_with_its_results(tmp_path: Path) -> None:
    given: list[Json] = [user("Oslo and Rome?"), said("I look."), item("Oslo"), item("Rome")]
    results: list[Json] = [
        {"type": "function_call_output", "call_id": "Rome", "output": "20"},
        {"type": "function_call_output", "call_id": "Oslo", "output": '{"error": "no such city"}'},
    ]
    record = read_one(tmp_path, batch({**RESPONSES, **responses([said("Warm.")], [*given, *results])}))
    (turn,) = draft_of(record).turns
    assert [(each.result, each.is_error) for step in turn.steps for each in step] == [
        ("no such city", True),
        ("20", False),
    ]


def test_what_is_marked_as_an_error_for_anthropic_is_an_error(tmp_path: Path) -> None:
    asked: list[Json] = [
        user("Oslo?"),
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "get_weather", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "no", "is_error": True}]},
    ]
    request: dict[str, Json] = {"model": "c", "messages": asked, "tools": [ANTHROPIC_TOOL]}
    answer: dict[str, Json] = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Not known."}],
        "stop_reason": "end_turn",
    }
    draft = draft_of(read_one(tmp_path, batch({**ANTHROPIC, **bodies(request, answer)})))
    assert [(each.result, each.is_error) for each in draft.calls] == [("no", True)]


def test_parts_of_a_message_of_the_user_are_read(tmp_path: Path) -> None:
    image = {"contents.1.message_content.type": "image", "contents.1.message_content.image.image.url": "data:x"}
    message = {"role": "user", **part("text", "What is it?"), **image}
    record = read_one(tmp_path, batch({**RESPONSES, **flat("input", message, {"role": "user", "content": "Say!"})}))
    assert record.messages[0]["content"] == [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": "data:x"}},
    ]


def test_of_several_choices_the_first_is_the_answer(tmp_path: Path) -> None:
    choices = flat("output", {"role": "assistant", "content": "A"}, {"role": "assistant", "content": "B"})
    told: dict[str, Json] = {**ASKED, **choices, "llm.invocation_parameters": '{"n": 2}'}
    assert read_one(tmp_path, batch(told)).messages[-1]["content"] == "A"


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (responses([{"type": "web_search_call"}, item("Oslo")]), "a message has an unknown role: 'web_search_call'"),
        (
            flat("output", {"role": "assistant", "tool_calls.0.tool_call.function.name": "web_search_call"}),
            "the model called a tool of the provider: 'web_search_call'",
        ),
        (
            flat("output", {"role": "assistant"}, {"role": "assistant", **call("Oslo")}),
            "an answer has a part that is not understood",
        ),
        (
            flat("output", {"role": "assistant", **part("audio", "")}),
            "a message has a part of type 'audio', which case files do not support",
        ),
        ({}, "there is no answer"),
    ],
    ids=["body", "attributes", "nothing", "part", "no-answer"],
)
def test_an_answer_that_is_not_understood_whole_is_left_out_and_told(
    tmp_path: Path, told: dict[str, Json], why: str
) -> None:
    span = batch({**ASKED, "openinference.span.kind": "LLM", **told})
    records, unread = read_all(write_lines(tmp_path / "log.jsonl", span))
    assert not records
    assert [each.reason for each in unread] == [why]


@pytest.mark.parametrize(
    "told",
    [
        {"openinference.span.kind": "LLM", "llm.model_name": "m", "input.value": "__REDACTED__"},
        {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"},
        {"llm.request.type": "chat"},
    ],
)
def test_a_request_without_its_messages_is_told(tmp_path: Path, told: dict[str, Json]) -> None:
    records, unread = read_all(write_lines(tmp_path / "log.jsonl", batch(told)))
    assert not records
    assert [each.reason for each in unread] == ["the span of a request holds no messages"]


def test_one_span_that_cannot_be_used_leaves_the_others_of_its_batch(tmp_path: Path) -> None:
    spans = [batch(told)["resourceSpans"][0] for told in (ASKED, RESPONSES)]  # type: ignore[index]
    records, unread = read_all(write_lines(tmp_path / "log.jsonl", {"resourceSpans": spans}))
    assert [calls_in(record) for record in records] == [BOTH]
    assert [(each.place, each.reason) for each in unread] == [("log.jsonl:1, span 1", "there is no answer")]


def test_a_schema_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    broken: Json = {"type": "function", "name": "get_weather", "parameters": {"type": "objekt"}}
    told = {**RESPONSES, "llm.tools.0.tool.json_schema": json.dumps(broken)}
    records, (unread,) = read_all(write_lines(tmp_path / "log.jsonl", batch(told)))
    assert not records
    assert unread.reason.startswith("the tool 'get_weather' cannot be read: `objekt` is not a type")


def test_chat_completions_are_read_from_their_bodies(tmp_path: Path) -> None:
    request: dict[str, Json] = {"model": "m", "messages": [user("Oslo?")], "tools": [CHAT_TOOL]}
    answer: Json = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}
    told = bodies(request, {"choices": [{"message": answer, "finish_reason": "length"}]})
    _, unread = read_all(write_lines(tmp_path / "log.jsonl", batch({**RESPONSES, **told})))
    assert [each.reason for each in unread] == ["the answer is incomplete: length"]

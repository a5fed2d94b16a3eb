"""Langfuse's observations as its library sends them: spans of OpenTelemetry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from tests.unit.traces.formats.test_otel import batch
from tests.unit.traces.support import (
    CHAT_TOOL,
    FLAT_TOOL,
    calling,
    calls_in,
    chat_call,
    read_all,
    read_one,
    roles,
    saying,
    user,
    write_lines,
)

ROME: Json = {"city": "Rome"}
BOTH = [("get_weather", {"city": "Oslo"}), ("get_weather", ROME)]
FILLED_IN: dict[str, Json] = {
    "temperature": 0,
    "max_tokens": "Infinity",
    "top_p": 1,
    "frequency_penalty": 0,
    "presence_penalty": 0,
}
ITEMS: list[Json] = [
    {"type": "reasoning", "id": "r", "summary": [], "content": None},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
    {"type": "function_call", "call_id": "1", "name": "get_weather", "arguments": '{"city": "Oslo"}'},
    {"type": "function_call", "call_id": "2", "name": "get_weather", "arguments": '{"city": "Rome"}'},
]
BY_CHAT: Json = {"messages": [user("Oslo and Rome?")], "tools": [CHAT_TOOL]}
BY_RESPONSES: Json = {"input": [user("Oslo and Rome?")], "tools": [FLAT_TOOL]}


def span(given: Json, output: Json, **more: Json) -> dict[str, Json]:
    told: dict[str, Json] = {
        "type": "generation",
        "input": given if isinstance(given, str) else json.dumps(given),
        **more,
    }
    if output is not None:
        told["output"] = output if isinstance(output, str) else json.dumps(output)
    return batch({f"langfuse.observation.{name}": value for name, value in told.items()})


@pytest.mark.parametrize(
    ("given", "output"),
    [
        (BY_CHAT, {**calling(chat_call(), chat_call(ROME, of="c2")), "content": "I look."}),
        (BY_RESPONSES, ITEMS),
        (BY_RESPONSES, {"object": "response", "output": ITEMS}),
        (
            BY_CHAT,
            [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "1", "name": "get_weather", "input": {"city": "Oslo"}},
                {"type": "tool_use", "id": "2", "name": "get_weather", "input": ROME},
            ],
        ),
    ],
    ids=["chat", "responses", "response", "content"],
)
def test_spans_of_generations_are_read(tmp_path: Path, given: Json, output: Json) -> None:
    more: dict[str, Json] = {"model.name": "m", "model.parameters": json.dumps(FILLED_IN)}
    record = read_one(tmp_path, span(given, output, **more))
    assert calls_in(record) == BOTH
    assert record.messages[-1]["content"] == "I look."
    assert (record.model, record.settings) == ("m", {"temperature": 0})
    assert record.tools[0].parameters["required"] == ["city"]


def test_parameters_that_are_no_defaults_of_the_wrapper_are_kept(tmp_path: Path) -> None:
    parameters = json.dumps({"temperature": 1, "top_p": 1})
    assert read_one(tmp_path, span("Oslo?", "Cold.", **{"model.parameters": parameters})).settings == {
        "temperature": 1,
        "top_p": 1,
    }


def test_texts_are_messages(tmp_path: Path) -> None:
    record = read_one(tmp_path, span("Oslo?", "Cold."))
    assert roles(record.messages) == ["user", "assistant"]


@pytest.mark.parametrize("kind", ["span", "tool", "agent", "event"])
def test_spans_of_other_observations_give_nothing(tmp_path: Path, kind: str) -> None:
    assert read_all(write_lines(tmp_path / "log.jsonl", span(BY_CHAT, saying("Cold."), type=kind))) == ([], [])


@pytest.mark.parametrize(
    ("given", "output", "more", "why"),
    [
        (BY_RESPONSES, [{"type": "web_search_call"}, *ITEMS], {}, "a message has a part of type 'web_search_call', *"),
        (BY_CHAT, None, {"level": "ERROR"}, "the request failed"),
        (BY_CHAT, None, {}, "there is no answer"),
        ({"args": ["Oslo?"], "kwargs": {}}, "Cold.", {}, "a message has no role"),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "@@@langfuseMedia:type=x@@@"}}]}],
            "A cat.",
            {},
            "an image or a file of it is in Langfuse's own store, and not in the export",
        ),
    ],
    ids=["item", "failed", "no-answer", "no-messages", "stored"],
)
def test_a_generation_that_is_not_understood_whole_is_left_out_and_told(
    tmp_path: Path, given: Json, output: Json, more: dict[str, Json], why: str
) -> None:
    records, (unread,) = read_all(write_lines(tmp_path / "log.jsonl", span(given, output, **more)))
    assert not records
    assert unread.reason.startswith(why.removesuffix("*"))


def test_one_generation_that_cannot_be_used_leaves_the_others_of_its_trace(tmp_path: Path) -> None:
    own: dict[str, Json] = {"type": "GENERATION", "traceId": "t", "input": [user("Oslo?")]}
    trace: Json = {"id": "t", "observations": [own, {**own, "output": "Cold."}]}
    records, unread = read_all(write_lines(tmp_path / "log.jsonl", trace))
    assert [record.messages[-1]["content"] for record in records] == ["Cold."]
    assert [each.reason for each in unread] == ["there is no answer"]

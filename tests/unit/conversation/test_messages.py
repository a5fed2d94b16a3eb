"""What an app did on its own, read out of the messages that it gave back in whatever form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.backends.apps.answers.answer import reply_of
from pytest_fcall.core import CallResult, Json, Message, Usage
from tests.unit.conversation.conversations import Model, case_of, held

ASKED: Message = {"role": "user", "content": "Book the cheapest flight to Oslo."}
TEXT = """
prompt: Book the cheapest flight to Oslo.
expect:
  - {search: {to: Oslo}, as: found}
  - then: [{book: {flight: {$from: "found.result[0].id"}}, result: booked}]
answer: Booked.
"""
FLIGHTS = [{"id": "F7"}]


def openai(name: Json, tool: str, arguments: dict[str, Json]) -> Message:
    function: dict[str, Json] = {"name": tool, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": name, "function": function}]}


def told(name: Json, content: Json) -> Message:
    return {"role": "tool", "tool_call_id": name, "content": content}


def anthropic(name: str, tool: str, arguments: dict[str, Json]) -> Message:
    part: dict[str, Json] = {"type": "tool_use", "id": name, "name": tool, "input": arguments}
    return {"role": "assistant", "content": [{"type": "text", "text": "One moment."}, part]}


def anthropic_result(name: str, content: Json, **more: Json) -> Message:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": content, **more}]}


def in_openais_form(first: Json, second: Json) -> list[Message]:
    return [
        openai(first, "search", {"to": "Oslo"}),
        told(first, json.dumps(FLIGHTS)),
        openai(second, "book", {"flight": "F7"}),
        told(second, "booked"),
    ]


TRAILS: dict[str, Sequence[Message]] = {
    "OpenAI": in_openais_form("a", "b"),
    "the same id each time": in_openais_form("a", "a"),
    "no ids": in_openais_form(None, None),
    "ids that are no text": in_openais_form(["a"], {"b": 1}),
    "Anthropic": [
        anthropic("a", "search", {"to": "Oslo"}),
        anthropic_result("a", [{"type": "text", "text": json.dumps(FLIGHTS)}]),
        anthropic("b", "book", {"flight": "F7"}),
        anthropic_result("b", "booked"),
    ],
    "functions, as they once were": [
        {"role": "assistant", "content": None, "function_call": {"name": "search", "arguments": '{"to": "Oslo"}'}},
        {"role": "function", "name": "search", "content": json.dumps(FLIGHTS)},
        {"role": "assistant", "content": None, "function_call": {"name": "book", "arguments": '{"flight": "F7"}'}},
        {"role": "function", "name": "book", "content": "booked"},
    ],
}


@pytest.mark.parametrize("form", TRAILS)
def test_a_trail_is_read_step_by_step_in_every_form(tmp_path: Path, form: str) -> None:
    trail = [ASKED, *TRAILS[form], {"role": "assistant", "content": "Booked."}]
    transcript, verdict = held(case_of(tmp_path, TEXT), Model([reply_of(trail, [ASKED])]))
    assert verdict.valid, verdict.reasons
    assert transcript.turns[0].results == (CallResult(FLIGHTS), CallResult("booked"))


def test_what_an_app_took_counts_once_however_many_steps_it_made(tmp_path: Path) -> None:
    reply = replace(reply_of([ASKED, *TRAILS["OpenAI"]], [ASKED]), usage=Usage(20, 10), seconds=2.5)
    steps = held(case_of(tmp_path, TEXT), Model([reply]))[0].steps
    assert [(step.reply.usage, step.reply.seconds) for step in steps] == [(None, None), (Usage(20, 10), 2.5)]


def results_of(tmp_path: Path, *messages: Message) -> tuple[CallResult, ...]:
    trail = [ASKED, *messages, {"role": "assistant", "content": "Booked."}]
    return held(case_of(tmp_path, TEXT), Model([reply_of(trail, [ASKED])]))[0].turns[0].results


def test_calls_made_at_once_are_told_from_each_other_by_their_ids(tmp_path: Path) -> None:
    parts: list[Json] = [{"id": name, "function": {"name": "search", "arguments": '{"to": "Oslo"}'}} for name in "ab"]
    both: Message = {"role": "assistant", "content": None, "tool_calls": parts}
    assert results_of(tmp_path, both, told("b", "2"), told("a", "1")) == (CallResult(1), CallResult(2))


def test_a_result_that_is_not_told_is_not_taken_from_another_call(tmp_path: Path) -> None:
    search, *rest = TRAILS["OpenAI"]
    untold, booked = results_of(tmp_path, search, *rest[1:])
    assert "do not say" in (untold.error or "")
    assert booked == CallResult("booked")


def test_calls_that_were_not_answered_at_last_have_no_results(tmp_path: Path) -> None:
    assert results_of(tmp_path, *TRAILS["OpenAI"][:3]) == (CallResult(FLIGHTS),)


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ('{"error": "no seat"}', CallResult(error="no seat")),
        ("NaN", CallResult("NaN")),
        ("1" * 5000, CallResult("1" * 5000)),
        ("[" * 100_000, CallResult("[" * 100_000)),
        (None, CallResult(None)),
        ([], CallResult([])),
        ([{"type": "text", "text": "[1"}, {"type": "text", "text": "]"}], CallResult([1])),
        ([{"type": "image"}], CallResult([{"type": "image"}])),
    ],
)
def test_what_a_call_gave_is_read_as_json_where_it_is_json(tmp_path: Path, content: Json, result: CallResult) -> None:
    assert results_of(tmp_path, openai("a", "search", {"to": "Oslo"}), told("a", content)) == (result,)


def test_a_result_that_is_marked_as_an_error_is_one(tmp_path: Path) -> None:
    messages = anthropic("a", "search", {"to": "Oslo"}), anthropic_result("a", "no seat", is_error=True)
    assert results_of(tmp_path, *messages) == (CallResult(error="no seat"),)

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_fcall.backends.interfaces.stream import EVENT_STREAM
from pytest_fcall.backends.proxy.forwarded_request import read_forwarded_request
from pytest_fcall.backends.recordings.answers import read_recording
from pytest_fcall.backends.recordings.entry import HttpAnswer, UnreadRecording
from pytest_fcall.backends.recordings.line import recording_line, recording_of
from pytest_fcall.core import Json, digest

PATHS = ["/chat/completions", "/responses", "/v1/messages", "/embeddings"]
KEYS = [
    "messages",
    "input",
    "system",
    "tools",
    "content",
    "choices",
    "message",
    "delta",
    "tool_calls",
    "function",
    "index",
    "type",
    "text",
    "usage",
    "output",
    "content_block",
    "partial_json",
    "stop_reason",
    "response",
    "name",
    "arguments",
    "model",
]
TYPES = st.sampled_from(
    ["message", "message_start", "content_block_start", "content_block_delta", "message_delta", "response.completed"]
)
values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | TYPES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("path", PATHS)
@given(body=values, answer=values)
@example(body={"messages": [7], "tools": [{"type": "web_search"}]}, answer={"type": "message", "content": [None]})
def test_whatever_goes_by_can_be_recorded(path: str, body: Json, answer: Json) -> None:
    asked = read_forwarded_request("POST", path, json.dumps(body).encode())
    events = f"data: {json.dumps(answer)}\n\n".encode()
    for wire in (
        HttpAnswer(200, "application/json", json.dumps(answer).encode()),
        HttpAnswer(200, EVENT_STREAM, events),
    ):
        unread = UnreadRecording("case", asked.digest, asked.request(), asked.path, wire, 0.5, "")
        line = json.loads(recording_line(unread, ""))
        assert recording_of(line, unread.request) == read_recording(unread)
        assert recording_line(read_recording(unread), "")


@given(content=st.binary(max_size=50), path=st.sampled_from(PATHS))
def test_any_bytes_are_a_request_that_is_known_again(content: bytes, path: str) -> None:
    assert read_forwarded_request("POST", path, content).digest == read_forwarded_request("POST", path, content).digest


def test_the_order_of_keys_and_what_is_for_the_books_do_not_count() -> None:
    one = read_forwarded_request("POST", "/chat/completions", b'{"model": "m", "messages": [], "user": "u1"}')
    same = read_forwarded_request(
        "POST", "/chat/completions", b'{"metadata": {"run": 7}, "messages": [], "model": "m"}'
    )
    assert one.digest == same.digest
    assert one.digest != read_forwarded_request("POST", "/responses", b'{"model": "m", "messages": []}').digest


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [], "tools": [TOOL, {**TOOL, "z": "é", "a": 1.0}], "zoom": {"tools": [TOOL]}},
        {"messages": [{"role": "user", "content": "tools"}]},
        {"messages": [], "tools": None},
        {"messages": [], "tools": []},
        {"messages": [], "tools": {"f": True}},
        {"tools": "web_search"},
    ],
)
@pytest.mark.parametrize("path", PATHS)
def test_a_request_is_named_by_all_that_it_says_with_tools_or_without(path: str, body: Json) -> None:
    assert read_forwarded_request("POST", path, json.dumps(body).encode()).digest == digest(["POST", path, body])


def test_tools_that_equal_in_python_and_not_in_json_are_told_apart() -> None:
    def named(minimum: Json) -> str:
        tool = {"type": "function", "function": {"name": "f", "parameters": {"minimum": minimum}}}
        return read_forwarded_request(
            "POST", "/chat/completions", json.dumps({"messages": [], "tools": [tool]}).encode()
        ).digest

    assert len({named(1), named(1.0), named(True), named("1")}) == 4


def test_tools_that_a_provider_runs_itself_are_told_beside_the_others() -> None:
    tools = [{"type": "web_search"}, {"type": "function", "name": "f", "parameters": {"type": "object"}}]
    asked = read_forwarded_request("POST", "/responses", json.dumps({"input": "x", "tools": tools}).encode())
    assert [tool.name for tool in asked.request().tools] == ["f"]
    assert asked.request().settings["tools"] == [{"type": "web_search"}]


def test_pictures_are_cut_in_what_is_shown_and_still_told_apart() -> None:
    def asked(data: str) -> tuple[str, str]:
        part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        body = {"messages": [{"role": "user", "content": [part]}]}
        read = read_forwarded_request("POST", "/chat/completions", json.dumps(body).encode())
        return read.digest, str(read.request().messages)

    first, other = asked("A" * 9_999 + "B"), asked("A" * 9_999 + "C")
    assert first[0] != other[0]
    assert len(first[1]) < 300

"""What requests and answers of each interface say, in the words of the providers' documentation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.interfaces.stream import AWS_EVENT_STREAM, EVENT_STREAM, LINES, is_stream, read_stream
from pytest_fcall.backends.proxy.forwarded_request import read_forwarded_request
from pytest_fcall.backends.recordings.answers import answer_fault, interface_of, may_hold_calls, read_recording
from pytest_fcall.backends.recordings.entry import HttpAnswer, UnreadRecording
from pytest_fcall.core import RawCall, Reply, Request, Usage
from tests.unit.backends.proxy.support import streamed
from tests.unit.backends.proxy.test_broken_answers import AWS, NDJSON, PATHS, frame

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
GEMINI = "/v1beta/models/gemini-2.5-flash:generateContent"
GEMINI_STREAM = "/v1beta/models/gemini-2.5-flash:streamGenerateContent"
CONVERSE = "/model/eu.anthropic.claude%3A0/converse"
CONVERSE_STREAM = "/model/eu.anthropic.claude%3A0/converse-stream"
OLLAMA = "/api/chat"
COHERE = "/v2/chat"


def asked(path: str, body: object) -> tuple[str, Request]:
    read = read_forwarded_request("POST", path, json.dumps(body).encode())
    return read.priced_as, read.request()


def answered(path: str, body: bytes, content_type: str = "application/json") -> Reply:
    unread = UnreadRecording("oslo", "d" * 64, Request(()), path, HttpAnswer(200, content_type, body), 0.5, "")
    return read_recording(unread).reply


def said(path: str, body: object) -> Reply:
    return answered(path, json.dumps(body).encode())


def test_a_request_to_gemini_is_read_with_its_tools_and_the_model_of_its_path() -> None:
    model, request = asked(
        GEMINI,
        {
            "systemInstruction": {"parts": [{"text": "Be "}, {"text": "short."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Oslo?"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}}]},
                {"parts": [{"functionResponse": {"name": "get_weather", "response": {"sky": "blue"}}}]},
            ],
            "tools": [
                {"functionDeclarations": [{"name": "get_weather", "parametersJsonSchema": CITY}]},
                {"function_declarations": [{"name": "get_time", "parameters": {"type": "OBJECT", "properties": {}}}]},
                {"googleSearch": {}},
            ],
            "generationConfig": {"temperature": 0},
        },
    )
    assert model == "any:gemini/gemini-2.5-flash"
    assert [message["role"] for message in request.messages] == ["system", "user", "assistant", "user"]
    assert [message["content"] for message in request.messages][:2] == ["Be short.", "Oslo?"]
    assert [tool.name for tool in request.tools] == ["get_weather", "get_time"]
    assert request.settings == {"generationConfig": {"temperature": 0}, "tools": [{"googleSearch": {}}]}


def test_a_reply_of_gemini_is_read_without_its_thoughts() -> None:
    parts = [
        {"text": "Where is Oslo?", "thought": True},
        {"text": "I look."},
        {"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "f1", "name": "get_time"}},
    ]
    reply = said(
        GEMINI,
        {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
            "usageMetadata": {
                "promptTokenCount": 20,
                "candidatesTokenCount": 10,
                "thoughtsTokenCount": 5,
                "cachedContentTokenCount": 8,
            },
            "modelVersion": "gemini-2.5-flash-001",
        },
    )
    assert (reply.text, reply.finish) == ("I look.", "tool_calls")
    assert reply.tool_calls == (RawCall("get_weather", {"city": "Oslo"}), RawCall("get_time", {}, "f1"))
    assert reply.usage == Usage(20, 15, 8, 5)
    assert reply.engine == {"model": "gemini-2.5-flash-001"}


@pytest.mark.parametrize("form", ["events", "array"])
def test_a_stream_of_gemini_comes_to_a_reply(form: str) -> None:
    chunks = [
        {"candidates": [{"content": {"parts": [{"text": "I "}]}, "index": 0}]},
        {"candidates": [{"content": {"parts": [{"text": "look."}]}, "index": 0}]},
        {
            "candidates": [
                {"content": {"parts": [{"functionCall": {"name": "f", "args": {"n": 1}}}]}, "finishReason": "STOP"}
            ],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
        },
    ]
    if form == "events":
        reply = answered(f"{GEMINI_STREAM}?alt=sse", streamed(*chunks).body, EVENT_STREAM)
    else:
        reply = said(GEMINI_STREAM, chunks)
    assert (reply.text, reply.tool_calls, reply.finish) == ("I look.", (RawCall("f", {"n": 1}),), "tool_calls")
    assert reply.usage == Usage(3, 2)


@pytest.mark.parametrize(
    ("answer", "finish", "malformed"),
    [
        ({"candidates": [{"finishReason": "MAX_TOKENS", "content": {"parts": [{"text": "a"}]}}]}, "length", False),
        ({"candidates": [{"finishReason": "SAFETY"}]}, "content_filter", False),
        ({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}, "unknown", True),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "content_filter", False),
        ({"usageMetadata": {}}, "unknown", True),
    ],
)
def test_an_unusual_end_of_gemini_is_no_abstention(answer: object, finish: str, malformed: bool) -> None:
    reply = said(GEMINI, answer)
    assert (reply.finish, bool(reply.malformed)) == (finish, malformed)


def test_ollama_is_read_with_its_tools_and_calls() -> None:
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": CITY}}
    messages = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Oslo?"}]
    body = {"model": "qwen3", "messages": messages, "tools": [tool], "options": {"seed": 1}}
    model, request = asked(OLLAMA, body)
    assert model == "any:ollama/qwen3"
    assert list(request.messages) == messages
    assert [tool.name for tool in request.tools] == ["get_weather"]
    call = {"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}
    figures = {"done": True, "done_reason": "stop", "prompt_eval_count": 20, "eval_count": 10}
    head = {"model": "qwen3", "created_at": "2026-11-22T08:00:00Z"}
    whole = said(
        OLLAMA, {**head, "message": {"role": "assistant", "content": "I look.", "tool_calls": [call]}, **figures}
    )
    lines: list[dict[str, Any]] = [
        {**head, "message": {"role": "assistant", "content": "I "}, "done": False},
        {**head, "message": {"role": "assistant", "content": "look."}, "done": False},
        {**head, "message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": False},
        {**head, "message": {"role": "assistant", "content": ""}, **figures},
    ]
    streamed_reply = answered(OLLAMA, "\n".join(map(json.dumps, lines)).encode(), NDJSON)
    assert whole == streamed_reply
    assert (whole.text, whole.finish, whole.usage) == ("I look.", "tool_calls", Usage(20, 10))
    assert whole.tool_calls == (RawCall("get_weather", {"city": "Oslo"}),)


def test_a_prompt_to_ollama_is_read_too() -> None:
    model, request = asked("/api/generate", {"model": "qwen3", "system": "Be short.", "prompt": "Oslo?"})
    assert (model, [message["content"] for message in request.messages]) == ("any:ollama/qwen3", ["Be short.", "Oslo?"])
    reply = said("/api/generate", {"model": "qwen3", "response": "Blue.", "done": True, "done_reason": "length"})
    assert (reply.text, reply.finish) == ("Blue.", "length")


def test_converse_is_read_with_its_tools() -> None:
    spec = {"name": "get_weather", "description": "Weather.", "inputSchema": {"json": CITY}}
    model, request = asked(
        CONVERSE,
        {
            "system": [{"text": "Be short."}],
            "messages": [
                {"role": "user", "content": [{"text": "Oslo?"}]},
                {
                    "role": "assistant",
                    "content": [{"toolUse": {"toolUseId": "t1", "name": "get_weather", "input": {}}}],
                },
            ],
            "toolConfig": {"tools": [{"toolSpec": spec}], "toolChoice": {"auto": {}}},
            "inferenceConfig": {"maxTokens": 9},
        },
    )
    assert model == "any:bedrock/eu.anthropic.claude:0"
    assert [message["content"] for message in request.messages][:2] == ["Be short.", "Oslo?"]
    ((name, description, parameters),) = [(tool.name, tool.description, tool.parameters) for tool in request.tools]
    assert (name, description, parameters["required"]) == ("get_weather", "Weather.", ["city"])
    assert request.settings == {"inferenceConfig": {"maxTokens": 9}, "tools": [{"toolChoice": {"auto": {}}}]}


def test_replies_of_converse_say_the_same_whole_and_in_frames() -> None:
    usage = {"inputTokens": 12, "outputTokens": 10, "totalTokens": 30, "cacheReadInputTokens": 8}
    use = {"toolUseId": "t1", "name": "get_weather"}
    content = [{"text": "I look."}, {"toolUse": {**use, "input": {"city": "Oslo"}}}]
    message = {"role": "assistant", "content": content}
    whole = said(CONVERSE, {"output": {"message": message}, "stopReason": "tool_use", "usage": usage})
    framed = answered(
        CONVERSE_STREAM,
        b"".join(
            [
                frame("messageStart", {"role": "assistant"}),
                frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "I "}}),
                frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "look."}}),
                frame("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": use}}),
                frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"city": '}}}),
                frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '"Oslo"}'}}}),
                frame("contentBlockStop", {"contentBlockIndex": 1}),
                frame("messageStop", {"stopReason": "tool_use"}),
                frame("metadata", {"usage": usage}),
            ]
        ),
        AWS,
    )
    assert whole == framed
    assert (whole.text, whole.finish, whole.usage) == ("I look.", "tool_calls", Usage(20, 10, 8))
    assert whole.tool_calls == (RawCall("get_weather", {"city": "Oslo"}, "t1"),)


def test_cohere_is_read_with_its_tools_and_calls() -> None:
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": CITY}}
    model, request = asked(
        COHERE, {"model": "command-a", "messages": [{"role": "user", "content": "Oslo?"}], "tools": [tool]}
    )
    assert (model, [each.name for each in request.tools]) == ("any:cohere/command-a", ["get_weather"])
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Oslo"}'}}
    message = {"role": "assistant", "tool_plan": "I look.", "tool_calls": [call]}
    usage = {"billed_units": {"input_tokens": 20.0, "output_tokens": 10}, "tokens": {"input_tokens": 900}}
    whole = said(COHERE, {"id": "1", "finish_reason": "TOOL_CALL", "message": message, "usage": usage})
    delta = {"type": "tool-call-delta", "index": 0}
    begun = {**call, "function": {"name": "get_weather", "arguments": ""}}
    events = [
        {"type": "message-start", "delta": {"message": {"role": "assistant"}}},
        {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "I look."}}},
        {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": begun}}},
        {**delta, "delta": {"message": {"tool_calls": {"function": {"arguments": '{"city":'}}}}},
        {**delta, "delta": {"message": {"tool_calls": {"function": {"arguments": '"Oslo"}'}}}}},
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": usage}},
    ]
    assert whole == answered(COHERE, streamed(*events, named=True).body, EVENT_STREAM)
    assert (whole.tool_calls, whole.finish) == ((RawCall("get_weather", '{"city":"Oslo"}', "c1"),), "tool_calls")
    assert whole.usage == Usage(20, 10)


@pytest.mark.parametrize(
    ("path", "is_read"),
    [
        ("/chat/completions", True),
        ("/openai/deployments/gpt/chat/completions?api-version=2025-04-01-preview", True),
        ("/openai/v1/responses", True),
        ("/openai/responses?api-version=preview", True),
        ("/v1/messages?beta=true", True),
        ("/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent?alt=sse", True),
        ("/v1beta/tunedModels/mine:generateContent", True),
        ("/threads/thread_1/messages", False),
        ("/v1/messages/count_tokens", False),
        ("/v1beta/models/g:countTokens", False),
        ("/completions", False),
        ("/v1/chat", False),
    ],
)
def test_an_interface_is_known_by_its_path(path: str, is_read: bool) -> None:
    assert (interface_of(path) is not None) is is_read


def test_azure_names_the_model_in_the_path_where_the_body_does_not() -> None:
    assert asked(PATHS["azure"], {"messages": []})[0] == "openai:exam-1"
    assert asked("/chat/completions", {"messages": []})[0] == "openai:(unnamed)"


@pytest.mark.parametrize(
    "path",
    [
        *("/embeddings", "/v1/models/x", "/v1beta/models/g:embedContent", "/api/tags", "/files/1", "/v2/rerank", "/"),
        *("/threads", "/threads/t1/messages", "/conversations/c1/items", "/audio/speech", "/v1beta/cachedContents"),
    ],
)
def test_no_calls_come_from_embeddings_models_and_files(path: str) -> None:
    assert not may_hold_calls(path)


@pytest.mark.parametrize("path", ["/threads/t/runs", "/v1/models/g:generateAnswer", "/completions", "/responses/r1"])
def test_calls_may_come_from_what_nobody_knows(path: str) -> None:
    assert may_hold_calls(path)


TYPES = ["application/json", EVENT_STREAM, AWS_EVENT_STREAM, *LINES, "", "text/html; charset=x"]
WORDS = st.sampled_from(
    [b"data: ", b'{"type": ', b'"message_stop"', b"[DONE]", b"\n\n", b"{}", b"]", b"[", frame("a", 1)]
)


@given(
    path=st.sampled_from([*PATHS.values(), "/elsewhere"]),
    content_type=st.sampled_from(TYPES),
    body=st.binary(max_size=60) | st.lists(WORDS, max_size=8).map(b"".join),
)
def test_any_bytes_are_an_answer_or_none_and_raise_nothing(path: str, content_type: str, body: bytes) -> None:
    assert isinstance(answer_fault(interface_of(path), HttpAnswer(200, content_type, body)), str)
    assert answered(path, body, content_type).text is not None
    if is_stream(content_type):
        assert read_stream(content_type, body).events is not None


KEYS = [
    *("candidates", "content", "parts", "functionCall", "finishReason", "usageMetadata", "promptFeedback", "contents"),
    *("message", "tool_calls", "function", "name", "arguments", "done", "done_reason", "response", "messages", "error"),
    *("output", "toolUse", "input", "stopReason", "usage", "toolConfig", "tools", "toolSpec", "inputSchema", "json"),
    *("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockIndex", "delta", "start", "messageStop"),
    *("type", "index", "finish_reason", "billed_units", "system", "systemInstruction", "functionDeclarations", "text"),
]
KINDS = st.sampled_from(
    ["message-start", "content-start", "content-delta", "tool-call-start", "tool-call-delta", "STOP"]
)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | KINDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=14,
)


@given(path=st.sampled_from([*PATHS.values()]), request=json_values, events=st.lists(json_values, max_size=3))
def test_any_json_is_a_request_and_an_answer_and_raises_nothing(path: str, request: Any, events: list[Any]) -> None:
    assert asked(path, request)[1].messages is not None
    lines = "\n".join(map(json.dumps, events)).encode()
    frames = b"".join(frame("contentBlockDelta", each) for each in events)
    for body, content_type in (
        (json.dumps(events).encode(), "application/json"),
        (json.dumps(request).encode(), "application/json"),
        (streamed(*events).body, EVENT_STREAM),
        (lines, NDJSON),
        (frames, AWS),
    ):
        assert answered(path, body, content_type).text is not None
        assert isinstance(answer_fault(interface_of(path), HttpAnswer(200, content_type, body)), str)

"""What is not a whole answer of its interface reaches the app as it came, and is never replayed."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import replace
from zlib import crc32

import pytest

from pytest_fcall.backends.recordings.entry import HttpAnswer
from tests.servers import Answer, chat, responses
from tests.unit.backends.proxy.support import CHAT_STREAM, MESSAGE, MESSAGE_STREAM, Between, chunk, streamed
from tests.unit.backends.proxy.test_proxy import post

RESPONSE = json.loads(responses("Blue.").body)
GEMINI = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "Blue."}]}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7},
    "modelVersion": "exam-1",
}
OLLAMA = {"model": "exam-1", "message": {"role": "assistant", "content": "Blue."}, "done": True, "done_reason": "stop"}
GENERATED = {"model": "exam-1", "response": "Blue.", "done": True, "done_reason": "stop"}
CONVERSE = {
    "output": {"message": {"role": "assistant", "content": [{"text": "Blue."}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 5, "outputTokens": 2, "totalTokens": 7},
}
COHERE = {
    "id": "1",
    "finish_reason": "COMPLETE",
    "message": {"role": "assistant", "content": [{"type": "text", "text": "Blue."}]},
    "usage": {"billed_units": {"input_tokens": 5, "output_tokens": 2}},
}
PATHS = {
    "chat": "/chat/completions",
    "azure": "/openai/deployments/exam-1/chat/completions?api-version=2025-04-01-preview",
    "responses": "/responses",
    "messages": "/messages",
    "gemini": "/v1beta/models/exam-1:generateContent",
    "gemini stream": "/v1beta/models/exam-1:streamGenerateContent?alt=sse",
    "ollama": "/api/chat",
    "ollama prompt": "/api/generate",
    "bedrock": "/model/exam-1/converse",
    "bedrock stream": "/model/exam-1/converse-stream",
    "cohere": "/v2/chat",
}
NDJSON = "application/x-ndjson"
AWS = "application/vnd.amazon.eventstream"


def json_answer(data: object) -> Answer:
    return Answer(json.dumps(data).encode())


def lines(*events: object) -> Answer:
    return Answer("".join(f"{json.dumps(event)}\n" for event in events).encode(), content_type=NDJSON, chunked=True)


def frame(kind: str, payload: object, *, exception: bool = False) -> bytes:
    """A message in AWS's framing, as its documentation describes it."""
    named = {":exception-type": kind, ":message-type": "exception"} if exception else {}
    named = named or {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in named.items()
    )
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    message = prelude + struct.pack(">I", crc32(prelude)) + headers + body
    return message + struct.pack(">I", crc32(message))


def frames(*messages: bytes) -> Answer:
    return Answer(b"".join(messages), content_type=AWS, chunked=True)


CONVERSE_FRAMES = (
    frame("messageStart", {"role": "assistant"}),
    frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Blue."}}),
    frame("contentBlockStop", {"contentBlockIndex": 0}),
    frame("messageStop", {"stopReason": "end_turn"}),
    frame("metadata", {"usage": {"inputTokens": 5, "outputTokens": 2}, "metrics": {"latencyMs": 1}}),
)
GEMINI_CHUNKS = (
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "Bl"}]}, "index": 0}]},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "ue."}]}, "finishReason": "STOP", "index": 0}]},
)
OLLAMA_LINES = (
    {"model": "exam-1", "message": {"role": "assistant", "content": "Bl"}, "done": False},
    {**OLLAMA, "message": {"role": "assistant", "content": "ue."}},
)
COHERE_EVENTS = (
    {"type": "message-start", "id": "1", "delta": {"message": {"role": "assistant", "content": []}}},
    {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
    {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Blue."}}}},
    {"type": "content-end", "index": 0},
    {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": COHERE["usage"]}},
)
CREATED = {"type": "response.created", "response": {**RESPONSE, "status": "in_progress", "output": []}}
WHOLE = {
    "chat": [chat("Blue."), CHAT_STREAM, chat("Blu", finish_reason="length")],
    "azure": [chat("Blue."), replace(CHAT_STREAM, content_type="text/event-stream; charset=utf-8")],
    "responses": [
        responses("Blue."),
        responses("Blu", status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
        responses(status="queued", background=True),
        streamed(CREATED, {"type": "response.completed", "response": RESPONSE}, named=True),
    ],
    "messages": [json_answer(MESSAGE), MESSAGE_STREAM],
    "gemini": [json_answer(GEMINI), json_answer({"promptFeedback": {"blockReason": "SAFETY"}})],
    "gemini stream": [
        streamed(*GEMINI_CHUNKS),
        json_answer([*GEMINI_CHUNKS]),
        streamed({"promptFeedback": {"blockReason": "OTHER"}}),
    ],
    "ollama": [json_answer(OLLAMA), lines(*OLLAMA_LINES)],
    "ollama prompt": [
        json_answer(GENERATED),
        lines({"response": "Bl", "done": False}, {**GENERATED, "response": "ue."}),
    ],
    "bedrock": [json_answer(CONVERSE)],
    "bedrock stream": [frames(*CONVERSE_FRAMES), frames(*CONVERSE_FRAMES[:-1])],
    "cohere": [json_answer(COHERE), streamed(*COHERE_EVENTS, named=True), streamed(*COHERE_EVENTS, "[DONE]")],
}


def without(data: Mapping[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in data.items() if name not in names}


ERROR = {"error": {"message": "The server had an error.", "type": "server_error"}}
BROKEN_IN_ANY = {
    "empty": Answer(b""),
    "web page": Answer(b"<html>Please log in</html>", content_type="text/html; charset=utf-8"),
    "web page as JSON": Answer(b"<html>Please log in</html>"),
    "error": json_answer(ERROR),
    "list": json_answer([1]),
    "another object": json_answer({"status": "ok"}),
    "stream without events": streamed(),
    "empty stream": replace(streamed(), body=b""),
    "error event": streamed(ERROR),
    "comment alone": Answer(b": keep alive\n\n", content_type="text/event-stream"),
}
FINISH = chunk({}, "stop")
BROKEN = {
    "chat": [
        streamed(chunk({"content": "Blue."}), FINISH),
        streamed("[DONE]"),
        streamed(chunk({"content": "Blue."}), "[DONE]"),
        streamed(chunk({"content": "Bl"}), ERROR),
        streamed(chunk({"content": "Bl"}), ERROR, FINISH, "[DONE]"),
        replace(CHAT_STREAM, content_type="text/plain"),
        replace(CHAT_STREAM, content_type=""),
        replace(CHAT_STREAM, body=CHAT_STREAM.body[:300]),
        replace(chat("Blue."), content_type="text/plain"),
        chat("Blue.", finish_reason=None),
        chat("Blue.", finish_reason="error"),
        chat(choices=[]),
        chat("Blue.", error={"message": "overloaded"}),
        streamed({**FINISH, "choices": [{**FINISH["choices"][0], "index": 1}]}, chunk({"content": "B"}), "[DONE]"),
    ],
    "responses": [
        streamed(CREATED),
        streamed(
            CREATED, {"type": "response.failed", "response": {**RESPONSE, "status": "failed", "error": ERROR["error"]}}
        ),
        streamed(CREATED, {"type": "error", "message": "overloaded"}),
        responses("Blue.", status="failed"),
        responses("Blue.", status="in_progress"),
        json_answer(without(RESPONSE, "output")),
    ],
    "messages": [
        replace(MESSAGE_STREAM, body=MESSAGE_STREAM.body.replace(b'"message_stop"', b'"ping"')),
        replace(MESSAGE_STREAM, body=b'event: message_stop\ndata: {"type": "message_stop"}\n\n'),
        streamed(
            {"type": "message_start", "message": MESSAGE}, {"type": "error", "error": {"type": "overloaded_error"}}
        ),
        json_answer({**MESSAGE, "stop_reason": None}),
        json_answer({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    ],
    "gemini": [json_answer({"candidates": [{"content": {"parts": [{"text": "B"}]}}]}), json_answer({"candidates": []})],
    "gemini stream": [
        streamed(GEMINI_CHUNKS[0]),
        json_answer([GEMINI_CHUNKS[0]]),
        json_answer([GEMINI_CHUNKS[0], ERROR]),
        Answer(json.dumps([*GEMINI_CHUNKS]).encode()[:-1]),
    ],
    "ollama": [
        lines(OLLAMA_LINES[0]),
        lines(OLLAMA_LINES[0], {"error": "out of memory"}),
        Answer(lines(*OLLAMA_LINES).body[:-9], content_type=NDJSON),
        json_answer({**OLLAMA, "done": False}),
        json_answer(without(OLLAMA, "message")),
    ],
    "ollama prompt": [lines({"response": "Bl", "done": False}), json_answer(without(GENERATED, "response"))],
    "bedrock": [json_answer(without(CONVERSE, "stopReason")), json_answer(without(CONVERSE, "output"))],
    "bedrock stream": [
        frames(*CONVERSE_FRAMES[:3]),
        frames(CONVERSE_FRAMES[3]),
        frames(*CONVERSE_FRAMES[:2], frame("throttlingException", {"message": "slow down"}, exception=True)),
        Answer(b"".join(CONVERSE_FRAMES)[:-1], content_type=AWS),
        Answer(b"".join(CONVERSE_FRAMES).replace(b"Blue", b"Blub"), content_type=AWS),
    ],
    "cohere": [
        streamed(*COHERE_EVENTS[:-1]),
        streamed(COHERE_EVENTS[-1]),
        streamed(*COHERE_EVENTS[:-1], {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "no"}}),
        json_answer({**COHERE, "finish_reason": "TIMEOUT"}),
        json_answer(without(COHERE, "finish_reason")),
    ],
}
ANSWERS_BROKEN = [
    *((kind, answer) for kind in PATHS for answer in BROKEN_IN_ANY.values()),
    *((kind, answer) for kind, answers in BROKEN.items() for answer in answers),
]
ENOUGH = {
    "bedrock stream": len(b"".join(CONVERSE_FRAMES[:-1])),
    "cohere": len(streamed(*COHERE_EVENTS).body.rstrip()),
}
"""Bytes after which nothing of an answer is missing, where more may follow."""
BODY = json.dumps({"model": "exam-1", "messages": [{"role": "user", "content": "Oslo?"}]}).encode()


def place(between: Between, kind: str) -> str:
    return f"/{between.runs.in_process}/OPENAI_BASE_URL/v1{PATHS[kind]}"


@pytest.mark.parametrize("kind", PATHS)
def test_a_whole_answer_is_recorded_and_given_again(between: Between, kind: str) -> None:
    for answer in WHOLE[kind]:
        between.server.script(answer)
        with between.running() as run:
            assert post(between, BODY, place(between, kind)) == (200, answer.body)
            assert [inner.broken for inner in run.inner_requests] == [""]
        with between.running(live=False) as run:
            assert post(between, BODY, place(between, kind)) == (200, answer.body)
        assert run.not_recorded == []
        assert run.inner_requests[0].model == "exam-1"
        between.tape.kept.clear()


@pytest.mark.parametrize("kind", PATHS)
def test_a_broken_answer_reaches_the_app_and_is_not_recorded(between: Between, kind: str) -> None:
    for answer in [answer for each, answer in ANSWERS_BROKEN if each == kind]:
        between.server.script(answer)
        with between.running() as run:
            assert post(between, BODY, place(between, kind)) == (200, answer.body)
        assert between.tape.kept == {}, answer
        (inner,) = run.inner_requests
        assert inner.broken.startswith(PATHS[kind].partition("?")[0])
        assert inner.model == ""
        assert inner.reply.malformed


@pytest.mark.parametrize("kind", PATHS)
def test_an_answer_that_is_cut_anywhere_is_not_recorded(between: Between, kind: str) -> None:
    for answer in WHOLE[kind]:
        whole = answer.body.rstrip(b"\n")
        for length in range(1, len(whole), max(1, len(whole) // 17)):
            between.server.script(replace(answer, body=whole[:length]))
            with between.running():
                assert post(between, BODY, place(between, kind)) == (200, whole[:length])
            assert between.tape.kept == {} or length >= ENOUGH.get(kind, len(whole)), whole[:length]
            between.tape.kept.clear()


def test_the_number_of_a_broken_answer_is_free_for_the_next_try(between: Between) -> None:
    between.server.script(Answer(b""), chat("one"), chat("two"))
    path = place(between, "chat")
    with between.running() as run:
        assert [post(between, BODY, path)[1] for _ in range(3)] == [b"", chat("one").body, chat("two").body]
    assert [bool(inner.broken) for inner in run.inner_requests] == [True, False, False]
    with between.running(live=False):
        assert [post(between, BODY, path)[1] for _ in range(2)] == [chat("one").body, chat("two").body]


def test_a_broken_answer_of_an_earlier_version_is_asked_for_again(between: Between) -> None:
    path = place(between, "chat")
    with between.running():
        post(between, BODY, path)
    ((digest, entry),) = between.tape.kept.items()
    between.tape.kept[digest] = entry._replace(http_answer=HttpAnswer(200, "application/json", b'{"choices": ['))
    between.server.script(chat("Blue."))
    with between.running():
        assert post(between, BODY, path) == (200, chat("Blue.").body)
    assert len(between.server.asked) == 2
    with between.running(live=False):
        assert post(between, BODY, path) == (200, chat("Blue.").body)


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (Answer(b'{"data": []}'), True),
        (Answer(b'{"data": ['), False),
        (Answer(b""), False),
        (Answer(b"", status=204), True),
        (Answer(b"\x00\xff", content_type="audio/mpeg"), True),
        (streamed({"a": 1}), True),
    ],
)
def test_of_other_paths_json_must_be_whole(between: Between, answer: Answer, kept: bool) -> None:
    between.server.script(answer)
    with between.running():
        assert post(between, BODY, f"/{between.runs.in_process}/OPENAI_BASE_URL/v1/embeddings")[1] == answer.body
    assert bool(between.tape.kept) is kept


def test_a_connection_that_ends_without_a_length_cuts_no_answer_short(between: Between) -> None:
    """As with HTTP/1.0 and `Connection: close`, where nothing but the body says where it ends."""
    body = chat("Blue.").body
    for length, kept in ((len(body) - 5, 0), (len(body), 1)):
        between.server.script(replace(chat(), body=body[:length], ending="close", unmeasured=True))
        with between.running():
            assert post(between, BODY, place(between, "chat")) == (200, body[:length])
        assert len(between.tape.kept) == kept


def test_an_unread_path_is_recorded_and_named(between: Between) -> None:
    between.server.script(Answer(b'{"answer": "Blue."}'))
    for live in (True, False):
        with between.running(live=live) as run:
            post(between, BODY, f"/{between.runs.in_process}/OPENAI_BASE_URL/v1/threads/t1/runs?limit=2")
        assert [(inner.model, inner.unread) for inner in run.inner_requests] == [("", "/threads/t1/runs")]

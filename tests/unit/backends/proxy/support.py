"""A proxy before a scripted server, and what it has kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

from pytest_fcall.backends.proxy.app_run import AppRun, RequestOrigin
from pytest_fcall.backends.proxy.case_lookup import AppRuns
from pytest_fcall.backends.proxy.listener import LazyListener
from pytest_fcall.backends.proxy.proxy import Proxy
from pytest_fcall.backends.recordings.answers import read_recording
from pytest_fcall.backends.recordings.entry import Recording, UnreadRecording
from pytest_fcall.backends.store import NewReply
from tests.servers import Answer, Server

VARIABLES = ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")


@dataclass
class Memory:
    """A tape that forgets with the test."""

    kept: dict[str, Recording] = field(default_factory=dict)

    def find(self, digest: str) -> Recording | None:
        return self.kept.get(digest)

    def all(self) -> Iterable[Recording]:
        return list(self.kept.values())

    def check(self) -> None:
        """Everything can be kept."""

    def keep(self, replies: Sequence[NewReply]) -> None:
        self.kept |= {
            entry.digest: read_recording(entry) if isinstance(entry, UnreadRecording) else entry
            for *_, entry in replies
        }


class Fresh(Memory):
    """A tape that gives nothing again: everything is asked anew."""

    def find(self, digest: str) -> Recording | None:
        return None


class Between:
    """A proxy between the clients of a test and a server."""

    def __init__(self, server: Server, tape: Memory | None = None) -> None:
        self.server = server
        self.tape = tape or Memory()
        self.runs = AppRuns()
        self.listening = LazyListener(Proxy(self.runs, self.tape.keep).serve)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.listening.close()

    def run(self, case: str = "oslo", *, live: bool = True, sample: int = 0) -> AppRun:
        origin = self.server.url.removesuffix("/v1")
        place = RequestOrigin("wire:python:app:answer", "cases/a.fc.yaml", case, sample)
        upstreams = {"OPENAI_BASE_URL": self.server.url, "ANTHROPIC_BASE_URL": origin}
        return AppRun(place, self.tape, live, upstreams)

    @contextmanager
    def running(self, case: str = "oslo", *, live: bool = True, sample: int = 0) -> Any:
        run = self.run(case, live=live, sample=sample)
        token = self.runs.add(lambda: run, self.runs.in_process)
        try:
            yield run
        finally:
            self.runs.remove(token)

    def url(self, token: str | None = None, variable: str = "OPENAI_BASE_URL") -> str:
        path = "/v1" if variable == "OPENAI_BASE_URL" else ""
        return f"http://127.0.0.1:{self.listening.port}/{token or self.runs.in_process}/{variable}{path}"


def port_of(url: str) -> int:
    port = urlsplit(url).port
    assert port
    return port


def streamed(*events: object, named: bool = False, **changes: Any) -> Answer:
    """Server-sent events; `named` ones say their type, as Responses and Messages do."""
    lines = [
        (f"event: {event['type']}\n" if named and isinstance(event, dict) else "")
        + f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n"
        for event in events
    ]
    return Answer("".join(lines).encode(), content_type="text/event-stream", chunked=True, **changes)


def chunk(delta: dict[str, Any], finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A piece of a streamed chat completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": "exam-1"}
    return {**head, "choices": [choice], **fields}


CHAT_STREAM = streamed(
    chunk({"role": "assistant", "content": "The sky"}),
    chunk({"content": " is blue."}),
    chunk({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "get_weather", "arguments": '{"ci'}}]}),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": 'ty": "Oslo"}'}}]}),
    chunk({}, "tool_calls", usage={"prompt_tokens": 20, "completion_tokens": 10}),
    "[DONE]",
)
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "exam-1",
    "content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Oslo"}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 12, "output_tokens": 10, "cache_read_input_tokens": 8},
}
MESSAGE_STREAM = streamed(
    {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "look."}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {}},
    },
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"city": '}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '"Oslo"}'}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 10}},
    {"type": "message_stop"},
    named=True,
)

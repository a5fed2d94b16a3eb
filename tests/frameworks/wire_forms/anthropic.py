"""Anthropic's Messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.frameworks.wire_forms.question import Question, Said, Written, halves, plain, since_last, stream, text_of
from tests.servers import Asked

_USAGE = {"input_tokens": 20, "output_tokens": 10}


def read(asked: Asked) -> Question:
    body = asked.json
    prompt, since = since_last("user", body["messages"])
    parts = [part for message in since for part in message["content"] if isinstance(part, dict)]
    return Question(
        prompt,
        tools=frozenset(tool["name"] for tool in body.get("tools") or ()),
        results=tuple(text_of(part["content"]) for part in parts if part["type"] == "tool_result"),
        streamed=bool(body.get("stream")),
        model=str(body["model"]),
    )


def write(question: Question, said: Said) -> Written:
    content: list[dict[str, Any]] = [] if said.text is None else [{"type": "text", "text": said.text}]
    content += [
        {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": dict(arguments)}
        for number, (name, arguments) in enumerate(said.calls)
    ]
    whole = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": question.model,
        "content": content,
        "stop_reason": "tool_use" if said.calls else "end_turn",
        "stop_sequence": None,
        "usage": _USAGE,
    }
    return stream((event["type"], event) for event in _events(whole)) if question.streamed else plain(whole)


def _events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": whole | {"content": [], "stop_reason": None}}
    for index, block in enumerate(whole["content"]):
        is_text = block["type"] == "text"
        nothing: dict[str, Any] = {"text": ""} if is_text else {"input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": block | nothing}
        kind, key = ("text_delta", "text") if is_text else ("input_json_delta", "partial_json")
        for piece in halves(block["text"] if is_text else json.dumps(block["input"])):
            yield {"type": "content_block_delta", "index": index, "delta": {"type": kind, key: piece}}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": _USAGE}
    yield {"type": "message_stop"}

"""OpenAI's Responses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.frameworks.wire_forms.question import Question, Said, Written, halves, since_last, stream, text_of
from tests.servers import Asked
from tests.servers import responses as response


def read(asked: Asked) -> Question:
    body = asked.json
    given = body["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    prompt, since = since_last("user", items)
    return Question(
        prompt,
        tools=frozenset(tool["name"] for tool in body.get("tools") or () if "name" in tool),
        results=tuple(text_of(item["output"]) for item in since if item.get("type") == "function_call_output"),
        streamed=bool(body.get("stream")),
        model=str(body.get("model", "exam-1")),
    )


def write(question: Question, said: Said) -> Written:
    whole = response(said.text, said.calls, model=question.model)
    if not question.streamed:
        return Written(whole.body)
    events = enumerate(_events(json.loads(whole.body)))
    return stream((event["type"], event | {"sequence_number": number}) for number, event in events)


def _events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = whole | {"status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        yield from _text_events(place, item) if item["type"] == "message" else _call_events(place, item)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": whole}


def _text_events(place: dict[str, Any], item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = item | {"status": "in_progress", "content": []}
    part = place | {"content_index": 0}
    (content,) = item["content"]
    yield {"type": "response.output_item.added", "output_index": place["output_index"], "item": begun}
    yield {"type": "response.content_part.added", **part, "part": content | {"text": ""}}
    for piece in halves(content["text"]):
        yield {"type": "response.output_text.delta", **part, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **part, "text": content["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **part, "part": content}


def _call_events(place: dict[str, Any], item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = item | {"status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": place["output_index"], "item": begun}
    for piece in halves(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    named = {"name": item["name"], "arguments": item["arguments"]}
    yield {"type": "response.function_call_arguments.done", **place, **named}

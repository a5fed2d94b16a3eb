"""OpenAI's Chat Completions, which many servers speak; at Azure, too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.frameworks.wire_forms import fields
from tests.frameworks.wire_forms.question import CREATED, Question, Said, Written, halves, since_last, stream, text_of
from tests.servers import Asked
from tests.servers import chat as completion


def read(asked: Asked) -> Question:
    body = asked.json
    if fields.are_asked_for(body):
        return fields.read(body)
    prompt, since = since_last("user", body["messages"])
    return Question(
        prompt,
        tools=frozenset(tool["function"]["name"] for tool in body.get("tools") or ()),
        results=tuple(text_of(message["content"]) for message in since if message["role"] == "tool"),
        streamed=bool(body.get("stream")),
        model=str(body.get("model", "exam-1")),
    )


def write(question: Question, said: Said) -> Written:
    if question.steps is not None:
        said = fields.written(question, said)
    if not question.streamed:
        return Written(completion(said.text, said.calls, model=question.model).body)
    return stream(((None, chunk) for chunk in _chunks(question, said)), end="data: [DONE]\n\n")


def _chunks(question: Question, said: Said) -> Iterator[Any]:
    yield _chunk(question, {"role": "assistant", "content": ""})
    for piece in halves(said.text or ""):
        yield _chunk(question, {"content": piece})
    for index, (name, arguments) in enumerate(said.calls):
        start = {"index": index, "id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": ""}}
        yield _chunk(question, {"tool_calls": [start]})
        for piece in halves(json.dumps(arguments)):
            yield _chunk(question, {"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield _chunk(question, {}, "tool_calls" if said.calls else "stop")
    usage = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}
    yield _chunk(question, None) | {"choices": [], "usage": usage}


def _chunk(question: Question, delta: Any, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    whole = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": CREATED, "model": question.model}
    return whole | {"choices": [choice]}

"""Answers as OpenAI gives them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.servers.answer import Answer

Calls = Sequence[tuple[str, Mapping[str, Any] | str]]
"""Names and arguments; arguments that are text go out as they are."""


def chat(text: str | None = None, calls: Calls = (), *, latency: float = 0.0, **changes: Any) -> Answer:
    """A Chat Completions answer. `changes` replace fields of the whole, but for `message` and `finish_reason`."""
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": _text(arguments)}}
            for number, (name, arguments) in enumerate(calls)
        ]
    finish = changes.pop("finish_reason", "tool_calls" if calls else "stop")
    choice = {"index": 0, "message": message | changes.pop("message", {}), "finish_reason": finish, "logprobs": None}
    whole = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "exam-1",
        "choices": [choice],
        "usage": {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30},
        "system_fingerprint": "fp_1",
    }
    return Answer(json.dumps(whole | changes).encode(), latency=latency)


def responses(text: str | None = None, calls: Calls = (), *, latency: float = 0.0, **changes: Any) -> Answer:
    """A Responses answer. `changes` replace fields of the whole."""
    output: list[dict[str, Any]] = []
    if text is not None:
        part = {"type": "output_text", "text": text, "annotations": []}
        output.append({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]})
    output += [
        {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": name,
            "arguments": _text(arguments),
            "status": "completed",
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    whole = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": "exam-1",
        "status": "completed",
        "output": output,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": {
            "input_tokens": 20,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 30,
        },
    }
    return Answer(json.dumps(whole | changes).encode(), latency=latency)


def _text(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)

"""Traces in the form of logs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.core import Json, Message
from pytest_fcall.traces.drafts import draft_of
from pytest_fcall.traces.files import records_of
from pytest_fcall.traces.record import Record, SkippedEntry

PARAMETERS: dict[str, Json] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]}},
    "required": ["city"],
}
CHAT_TOOL: Json = {
    "type": "function",
    "function": {"name": "get_weather", "description": "Tell the weather.", "parameters": PARAMETERS},
}
FLAT_TOOL: Json = {
    "type": "function",
    "name": "get_weather",
    "description": "Tell the weather.",
    "parameters": PARAMETERS,
}
ANTHROPIC_TOOL: Json = {"name": "get_weather", "description": "Tell the weather.", "input_schema": PARAMETERS}
OSLO: Json = {"city": "Oslo"}


def chat_call(arguments: Json = OSLO, name: str = "get_weather", of: str = "c1") -> dict[str, Json]:
    return {"id": of, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def user(text: str) -> dict[str, Json]:
    return {"role": "user", "content": text}


def calling(*calls: Json) -> dict[str, Json]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls) or [chat_call()]}


def saying(text: str) -> dict[str, Json]:
    return {"role": "assistant", "content": text}


def giving(text: str, of: str = "c1") -> dict[str, Json]:
    return {"role": "tool", "tool_call_id": of, "content": text}


def chat_log(messages: Sequence[Json], reply: Json, **more: Json) -> dict[str, Json]:
    """A request and its answer, as a proxy would log them."""
    return {
        "request": {"model": "gpt-5.2", "messages": list(messages), "tools": [CHAT_TOOL], **more},
        "response": {"id": "r1", "model": "gpt-5.2-1120", "choices": [{"message": reply, "finish_reason": None}]},
    }


def write_lines(path: Path, *rows: Json) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def read_all(path: Path) -> tuple[list[Record], list[SkippedEntry]]:
    entries = list(records_of(path))
    records = [each for each in entries if isinstance(each, Record)]
    return records, [each for each in entries if isinstance(each, SkippedEntry)]


def read_one(folder: Path, *rows: Json) -> Record:
    """The one record of these lines."""
    (record,), skipped = read_all(write_lines(folder / "log.jsonl", *rows))
    assert not skipped
    return record


def calls_in(record: Record) -> list[tuple[str, Json]]:
    return [(each.call.name, each.call.arguments) for each in draft_of(record).calls]


def roles(messages: Sequence[Message]) -> list[Json]:
    return [message["role"] for message in messages]

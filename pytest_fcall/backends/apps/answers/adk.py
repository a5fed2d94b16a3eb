"""Google ADK: the events of a run, which hold Gemini's contents."""

from __future__ import annotations

from typing import Any

from pytest_fcall.backends.apps.answers.errors import inside
from pytest_fcall.backends.apps.answers.gemini import read_content
from pytest_fcall.backends.apps.answers.message import Answer
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    check_ignored,
    field,
    fields_of,
    listed,
    required_fields,
)

_OUTPUT_TOOL = "set_model_response"
"""The library's own tool, in which an agent with tools and a schema for its output answers."""
_CALL = ("function_call", "functionCall")
_RESULT = ("function_response", "functionResponse")


def read_event(data: Fields, place: str = "") -> Answer:
    """The meaning of an event: none if it is about the session, or a piece of a stream that comes whole later."""
    if data.get("partial"):
        return Answer([])
    check_ignored(data, ("content", "actions", "long_running_tool_ids", "longRunningToolIds", "node_info"), place)
    if data.get("content") is None:
        return Answer([])
    where = inside(place, "content")
    content = required_fields(data["content"], where, "a content with parts")
    parts = [_without_output_tool(part) for part in listed(content.get("parts"), inside(where, "parts"))]
    tells = [field(fields_of(part) or {}, *_RESULT) is not None for part in parts]
    is_users = data.get("author") == "user" or (bool(tells) and all(tells))
    return read_content({**content, "parts": parts, "role": "user" if is_users else "model"}, where)


def _without_output_tool(part: object) -> Any:
    """The part, with the answer as text where the library's own tool carries it."""
    data = fields_of(part) or {}
    call, result = fields_of(field(data, *_CALL)), fields_of(field(data, *_RESULT))
    if call and call.get("name") == _OUTPUT_TOOL:
        return {"text": as_text(call.get("args"))}
    return {"text": ""} if result and result.get("name") == _OUTPUT_TOOL else part

"""Vercel's AI SDK: the parts of its messages that name tools, and what they give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_fcall.backends.apps.answers.content import Content
from pytest_fcall.backends.apps.answers.errors import inside, not_understood
from pytest_fcall.backends.apps.answers.ignored import check_ignored
from pytest_fcall.backends.apps.answers.message import AnswerMessage, call_of, result_of
from pytest_fcall.backends.apps.answers.values import Fields, field, kind_of, required_fields
from pytest_fcall.core import RawCall

_CALLS = ("tool-call",)
_RESULTS = ("tool-result", "tool-error", "tool-output-denied")
_HARMLESS = frozenset(
    {
        *("source", "source-url", "source-document", "step-start", "reasoning-file", "custom"),
        *("tool-approval-request", "tool-approval-response"),
    }
)
_STREAMED = ("tool-input-start", "tool-input-delta", "tool-input-end", "tool-input-available", "tool-input-error")
_APPROVED = ("toolCall", "toolCallId")
"""Of requests for approval: the call itself is a part, too."""
UNDERSTOOD = (
    "parts of text, reasoning, file, source, step-start, data-NAME, tool-call, tool-result, tool-NAME, dynamic-tool"
)


def add_part(content: Content, data: Fields, place: str) -> None:
    """Add a part of a message, whose type is one of this library's."""
    kind = str(data.get("type"))
    if "state" in data and "toolName" not in data and "toolCallId" in data:  # a tool may be called `result`
        add_invocation(content, data, kind.removeprefix("tool-"))
    elif kind in _CALLS:
        content.calls.append(_call(data, data.get("toolName")))
    elif kind in _RESULTS:
        content.results.append(read_tool_result(data))
    elif kind == "tool-invocation":
        held = required_fields(data.get("toolInvocation"), inside(place, "toolInvocation"), UNDERSTOOD)
        add_invocation(content, held, held.get("toolName"))
    elif kind == "dynamic-tool":
        add_invocation(content, data, data.get("toolName"))
    elif kind in _STREAMED:
        raise not_understood(place, kind_of(data), f"{UNDERSTOOD}; a stream is read when its messages are whole")
    elif kind in _HARMLESS or kind.startswith("data-"):
        check_ignored(data, ("type", *_APPROVED), place)
    else:
        raise not_understood(place, kind_of(data), UNDERSTOOD)


def _call(data: Fields, name: object) -> RawCall:
    given = data["input"] if "input" in data else data.get("args", data.get("rawInput"))
    return call_of(name, {} if given is None else given, data.get("toolCallId"))


def read_tool_result(data: Fields) -> AnswerMessage:
    """The result of a call."""
    output = data["output"] if "output" in data else data.get("result", data.get("error"))
    is_wrapped = "input" not in data and "args" not in data
    return result_of(data.get("toolCallId"), _unwrapped(output) if is_wrapped else output)


def _unwrapped(output: Any) -> Any:
    """The value of an output, which messages of models wrap together with its kind, and steps do not."""
    if isinstance(output, Mapping) and output.keys() >= {"type", "value"}:
        return {"error": output["value"]} if str(output["type"]).startswith("error") else output["value"]
    return output


def add_invocation(content: Content, data: Fields, name: object) -> None:
    """Add a call of the user interface, and what it gave."""
    content.calls.append(_call(data, name))
    if data.get("errorText") is not None:
        content.results.append(result_of(data.get("toolCallId"), {"error": data["errorText"]}))
    elif (given := field(data, "output", "result")) is not None:
        content.results.append(result_of(data.get("toolCallId"), given))

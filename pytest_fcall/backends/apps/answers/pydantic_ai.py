"""pydantic-ai: results of runs, and their messages, as objects or as JSON."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.message import Answer, AnswerMessage, call_of, result_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    check_ignored,
    field,
    fields_of,
    kind_of,
    numbered,
    required_fields,
    said,
)
from pytest_fcall.backends.openai.answer_fields import count, engine
from pytest_fcall.core import RawCall, Usage

_CALLS = ("tool-call", "builtin-tool-call")
_RESULTS = ("tool-return", "builtin-tool-return")
_SAID = ("text", "compaction")
_PROMPTS = {"system-prompt": "system", "user-prompt": "user", "instruction": "system"}
_HARMLESS = frozenset(
    {
        *("thinking", "file", "speech", "retry-feedback", "instruction-delta", "tool-availability-delta"),
        *("capability-load-delta", "model-settings-delta", "instruction-digest", "instruction-baseline"),
    }
)
_ABOUT = frozenset({"part_kind", "content", "provider_details", "metadata", "tool_call_id", "retry"})
_UNDERSTOOD = "parts of text, thinking, tool-call, builtin-tool-call, tool-return, retry-prompt, prompts, files"
_OUTPUT_TOOL = "final_result"
_PROCESSED = "Final result processed."
"""The result of the library's own tool for structured output. With the name of the tool it shows the origin."""


def read_result(result: Any, place: str = "") -> Answer:
    """The actions of an agent in a run. The tool that carries its output is the library's own."""
    if getattr(result, "is_complete", True) is False:
        raise AnswerError("the app returned the result of a streamed run before its end: await its `get_output()`")
    messages = result.new_messages()
    own = getattr(result, "_output_tool_name", None)
    return _whole(messages, inside(place, "new_messages()"), {own} - {None}, getattr(result, "output", None))


def _whole(messages: Any, place: str, own: set[Any], output: Any) -> Answer:
    read = [
        message
        for each, each_place in numbered(messages, place)
        for message in read_message(required_fields(each, each_place, "a message with parts"), each_place).messages
    ]
    return Answer(without_output_tool(read, own), is_trail=True, is_new=True, text=as_text(output) or None)


def without_output_tool(messages: list[AnswerMessage], own: AbstractSet[Any] = frozenset()) -> list[AnswerMessage]:
    """The messages, where the calls of the library's own tools for output have become text."""
    hidden = {
        call.id
        for message in messages
        for call in message.calls
        if call.name in own or (_is_output_tool(call.name) and _is_processed(messages, call.id))
    }
    if not hidden:
        return messages
    kept = [each for each in messages if each.role != "tool" or each.call_id not in hidden]
    for message in kept:
        said = [as_text(call.arguments) for call in message.calls if call.id in hidden]
        message.text += "".join(said)
        message.calls, message.finish = tuple(call for call in message.calls if call.id not in hidden), None
    return kept


def _is_output_tool(name: object) -> bool:
    return isinstance(name, str) and (name == _OUTPUT_TOOL or name.startswith(f"{_OUTPUT_TOOL}_"))


def _is_processed(messages: list[AnswerMessage], call_id: str | None) -> bool:
    return any(each.role == "tool" and each.call_id == call_id and each.text == _PROCESSED for each in messages)


def read_message(data: Fields, place: str = "") -> Answer:
    """The content of a request or a response: prompts and results, or text and calls."""
    check_ignored(data, ("parts", "kind", "provider_details", "metadata"), place)
    read = [
        _part(required_fields(part, part_place, _UNDERSTOOD), part_place)
        for part, part_place in numbered(data.get("parts"), inside(place, "parts"))
    ]
    if data.get("kind") == "request":
        return Answer([each for each in read if isinstance(each, AnswerMessage)])
    model = data.get("model_name")
    message = AnswerMessage(
        "assistant",
        "".join(each for each in read if isinstance(each, str)),
        tuple(each for each in read if isinstance(each, RawCall)),
        usage=_usage(fields_of(data.get("usage"))),
        engine=engine({"model": model} if isinstance(model, str) else {}),
    )
    return Answer([message, *(each for each in read if isinstance(each, AnswerMessage))])


def _usage(data: Fields | None) -> Usage | None:
    if not data:
        return None
    read, written, cached = (
        count(field(data, name)) for name in ("input_tokens", "output_tokens", "cache_read_tokens")
    )
    return Usage(read, written, cached)


def _part(data: Fields, place: str) -> str | RawCall | AnswerMessage | None:
    kind = data.get("part_kind")
    content = data.get("content")
    if not isinstance(kind, str):
        raise not_understood(place, kind_of(data), _UNDERSTOOD)
    if kind in _CALLS:
        return call_of(
            data.get("tool_name"), {} if data.get("args") is None else data["args"], data.get("tool_call_id")
        )
    if kind in _RESULTS or (kind == "retry-prompt" and data.get("tool_name")):
        return result_of(data.get("tool_call_id"), content)
    if kind == "retry-prompt":
        return AnswerMessage("user", as_text(content))
    check_ignored(data, _ABOUT, place)
    if kind in _PROMPTS:
        return AnswerMessage(_PROMPTS[kind], _prompt(content))
    if kind in _SAID:
        return said(content, inside(place, "content"))
    if kind in _HARMLESS:
        return None
    raise not_understood(place, kind_of(data), _UNDERSTOOD)


def _prompt(content: object) -> str:
    """The text of a prompt, which is text or a list of text and files."""
    if not isinstance(content, (list, tuple)):
        return as_text(content)
    held = (each if isinstance(each, str) else (fields_of(each) or {}).get("content") for each in content)
    return "".join(each for each in held if isinstance(each, str))

"""Cohere's Chat, version 2, as apps use it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pytest_fcall.backends.interfaces.interface import Interface
from pytest_fcall.backends.interfaces.stream import Body, Stream
from pytest_fcall.backends.openai.answer_fields import count, finish, items, mapping, text, text_and_refusal
from pytest_fcall.core import Json, Message, RawCall, Reply, Usage

_END_OF_STREAM = re.compile(rb'"message-end"|^data: ?\[DONE\]', re.MULTILINE)
_FAILED = ("ERROR", "TIMEOUT")


def _messages(body: Body) -> Iterator[Message]:
    for message in items(body.get("messages")):
        yield mapping(message)


def _reply(body: Body) -> Reply | None:
    message = body.get("message")
    if not isinstance(message, Mapping) or body.get("finish_reason") in _FAILED:
        return None
    content, _ = text_and_refusal(message.get("content"))
    return Reply(
        text=content,
        tool_calls=tuple(_call(mapping(call)) for call in items(message.get("tool_calls"))),
        finish=finish(text(body.get("finish_reason"))),
        usage=_usage(mapping(body.get("usage"))),
    )


def _call(call: Body) -> RawCall:
    function = mapping(call.get("function"))
    return RawCall(function.get("name"), function.get("arguments"), text(call.get("id")))


def _usage(data: Body) -> Usage | None:
    """The token counts: those that are billed, or else those that the model has seen."""
    counts = mapping(data.get("billed_units")) or mapping(data.get("tokens"))
    if not counts:
        return None
    cached = _whole_number(data.get("cached_tokens"))
    return Usage(_whole_number(counts.get("input_tokens")), _whole_number(counts.get("output_tokens")), cached)


def _whole_number(value: Json) -> int | None:
    """The count, which Cohere may write as 12.0."""
    return count(int(value) if isinstance(value, float) and value.is_integer() else value)


def _join_stream(events: Iterable[Body]) -> Body:
    whole: dict[str, Json] = {}
    content: dict[int, dict[str, Json]] = {}
    calls: dict[int, dict[str, Json]] = {}
    begun = False
    for event in events:
        index = count(event.get("index")) or 0
        delta = mapping(event.get("delta"))
        message = mapping(delta.get("message"))
        match event.get("type"):
            case "message-start":
                begun = True
            case "content-start":
                content[index] = dict(mapping(message.get("content")))
            case "content-delta":
                part = content.setdefault(index, {"type": "text"})
                part["text"] = (
                    f"{text(part.get('text')) or ''}{text(mapping(message.get('content')).get('text')) or ''}"
                )
            case "tool-call-start":
                call = mapping(message.get("tool_calls"))
                calls[index] = {**call, "function": dict(mapping(call.get("function")))}
            case "tool-call-delta":
                _add_arguments(calls.setdefault(index, {}), mapping(message.get("tool_calls")))
            case "message-end":
                whole = dict(delta)
    if not begun:
        return whole
    parts: list[Json] = [content[index] for index in sorted(content)]
    made: list[Json] = [calls[index] for index in sorted(calls)]
    return {**whole, "message": {"role": "assistant", "content": parts, "tool_calls": made}}


def _add_arguments(call: dict[str, Json], delta: Body) -> None:
    function = dict(mapping(call.get("function")))
    more = text(mapping(delta.get("function")).get("arguments")) or ""
    function["arguments"] = f"{text(function.get('arguments')) or ''}{more}"
    call["function"] = function


def _fault(body: Body) -> str:
    reason = body.get("finish_reason")
    if reason in _FAILED:
        return f"reports an error: {reason}"
    if not isinstance(body.get("message"), Mapping):
        return "holds no message"
    return "" if text(reason) else "has no finish_reason, so that it may be cut short"


def _stream_fault(stream: Stream) -> str:
    ended = any(event.get("type") == "message-end" for event in stream.events)
    return "" if ended else "is a stream that ends without message-end"


COHERE_INTERFACE = Interface(
    "any:cohere/",
    _messages,
    frozenset({"messages"}),
    _reply,
    _join_stream,
    _END_OF_STREAM,
    _fault,
    _stream_fault,
)

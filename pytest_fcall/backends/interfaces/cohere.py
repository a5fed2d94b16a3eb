"""Cohere's Chat, version 2, as apps use it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pytest_fcall.backends.interfaces.interface import WireInterface, called_function, messages_of_body
from pytest_fcall.backends.interfaces.stream import Body, Stream
from pytest_fcall.backends.openai.answer_fields import count, finish, items, mapping, text, text_and_refusal
from pytest_fcall.core.reply import Reply, Usage
from pytest_fcall.core.values import Json

_END_OF_STREAM = re.compile(rb'"message-end"|^data: ?\[DONE\]', re.MULTILINE)
_FAILED = ("ERROR", "TIMEOUT")


def _reply(body: Body) -> Reply | None:
    message = body.get("message")
    if not isinstance(message, Mapping) or body.get("finish_reason") in _FAILED:
        return None
    content, _ = text_and_refusal(message.get("content"))
    return Reply(
        text=content,
        tool_calls=tuple(called_function(mapping(call)) for call in items(message.get("tool_calls"))),
        finish=finish(text(body.get("finish_reason"))),
        usage=_usage(mapping(body.get("usage"))),
    )


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
    texts: defaultdict[int, list[str]] = defaultdict(list)
    calls: dict[int, dict[str, Json]] = {}
    arguments: defaultdict[int, list[str]] = defaultdict(list)
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
                texts[index].append(text(mapping(message.get("content")).get("text")) or "")
            case "tool-call-start":
                call = mapping(message.get("tool_calls"))
                calls[index] = {**call, "function": dict(mapping(call.get("function")))}
            case "tool-call-delta":
                function = mapping(mapping(message.get("tool_calls")).get("function"))
                arguments[index].append(text(function.get("arguments")) or "")
            case "message-end":
                whole = dict(delta)
    if not begun:
        return whole
    parts, made = _whole_parts(content, texts), _whole_calls(calls, arguments)
    return {**whole, "message": {"role": "assistant", "content": parts, "tool_calls": made}}


def _whole_parts(begun: dict[int, dict[str, Json]], texts: Mapping[int, Sequence[str]]) -> list[Json]:
    for index, added in texts.items():
        part = begun.setdefault(index, {"type": "text"})
        part["text"] = "".join([text(part.get("text")) or "", *added])
    return [begun[index] for index in sorted(begun)]


def _whole_calls(begun: dict[int, dict[str, Json]], arguments: Mapping[int, Sequence[str]]) -> list[Json]:
    for index, added in arguments.items():
        function = mapping(begun.setdefault(index, {}).get("function"))
        whole = "".join([text(function.get("arguments")) or "", *added])
        begun[index]["function"] = {**function, "arguments": whole}
    return [begun[index] for index in sorted(begun)]


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


COHERE_INTERFACE = WireInterface(
    "any:cohere/",
    messages_of_body,
    frozenset({"messages"}),
    _reply,
    _join_stream,
    _END_OF_STREAM,
    _fault,
    _stream_fault,
)

"""Chat Completions, as apps use it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pytest_fcall.backends.interfaces.interface import WireInterface, messages_of_body
from pytest_fcall.backends.interfaces.stream import Body, Stream
from pytest_fcall.backends.openai.answer_fields import count, items, mapping, text
from pytest_fcall.backends.openai.chat import read_reply
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json
from pytest_fcall.schema.wire_tools import tools_for_wire

_END_OF_STREAM = re.compile(rb'^data: ?\[DONE\]|"finish_reason" ?: ?"\w', re.MULTILINE)


def _reply(body: Body) -> Reply | None:
    return read_reply(body, tools_for_wire(()))


def _join_stream(chunks: Iterable[Body]) -> Body:
    """The first choice of a stream, with the last usage."""
    whole: dict[str, Json] = {}
    content: list[str] = []
    refusal: list[str] = []
    calls: dict[int, dict[str, list[str]]] = {}
    reason: Json = None
    for chunk in chunks:
        whole |= {key: value for key, value in chunk.items() if value is not None and key != "choices"}
        choice = next((each for each in _choices(chunk) if not each.get("index")), {})
        delta = mapping(choice.get("delta"))
        content.append(text(delta.get("content")) or "")
        refusal.append(text(delta.get("refusal")) or "")
        for call in items(delta.get("tool_calls")):
            _add_piece(calls, mapping(call))
        reason = choice.get("finish_reason") or reason
    message: Json = {
        "content": "".join(content),
        "refusal": "".join(refusal) or None,
        "tool_calls": [_call(calls[index]) for index in sorted(calls)],
    }
    return {**whole, "choices": [{"message": message, "finish_reason": reason}]}


def _add_piece(calls: dict[int, dict[str, list[str]]], delta: Body) -> None:
    """Add a piece of a call to the pieces before it."""
    index = count(delta.get("index"))
    call = calls.setdefault(len(calls) if index is None else index, {"id": [], "name": [], "arguments": []})
    function = mapping(delta.get("function"))
    call["id"].append(text(delta.get("id")) or "")
    call["name"].append(text(function.get("name")) or "")
    call["arguments"].append(text(function.get("arguments")) or "")


def _call(call: dict[str, list[str]]) -> Json:
    name, arguments = "".join(call["name"]), "".join(call["arguments"])
    return {"id": next(filter(None, call["id"]), ""), "function": {"name": name, "arguments": arguments}}


def _choices(body: Body) -> Sequence[Body]:
    return [mapping(choice) for choice in items(body.get("choices"))]


def _fault(body: Body) -> str:
    choices = _choices(body)
    if not choices:
        return "holds no choices"
    if any(choice.get("finish_reason") == "error" or choice.get("error") for choice in choices):
        return "reports an error"
    return (
        "" if all(_is_finished(choice) for choice in choices) else "has no finish_reason, so that it may be cut short"
    )


def _is_finished(choice: Body) -> bool:
    return bool(text(choice.get("finish_reason"))) and isinstance(choice.get("message"), Mapping)


def _stream_fault(stream: Stream) -> str:
    choices = [choice for event in stream.events for choice in _choices(event)]
    begun = {count(choice.get("index")) for choice in choices}
    ended = {count(choice.get("index")) for choice in choices if text(choice.get("finish_reason"))}
    if not begun or begun != ended:
        return "is a stream that ends without a finish_reason"
    return "" if stream.done else "is a stream that ends without [DONE]"


CHAT_INTERFACE = WireInterface(
    "openai:",
    messages_of_body,
    frozenset({"messages"}),
    _reply,
    _join_stream,
    _END_OF_STREAM,
    _fault,
    _stream_fault,
)

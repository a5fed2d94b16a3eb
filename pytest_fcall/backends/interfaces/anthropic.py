"""Anthropic's Messages, as apps use it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from pytest_fcall.backends.interfaces.interface import WireInterface
from pytest_fcall.backends.interfaces.stream import Body, Stream
from pytest_fcall.backends.openai.answer_fields import count, engine, finish, items, mapping, text, text_and_refusal
from pytest_fcall.core.json_data import json_or_text
from pytest_fcall.core.reply import RawCall, Reply, Usage
from pytest_fcall.core.values import Json, Message

_END_OF_STREAM = re.compile(rb'"type" ?: ?"message_stop"')


def _messages(body: Body) -> Iterator[Message]:
    if (system := body.get("system")) is not None:
        yield {"role": "system", "content": system}
    for message in items(body.get("messages")):
        yield mapping(message)


def _reply(body: Body) -> Reply | None:
    if body.get("type") != "message":
        return None
    parts = [mapping(part) for part in items(body.get("content"))]
    reason = text(body.get("stop_reason"))
    content, _ = text_and_refusal(body.get("content"))
    return Reply(
        text=content,
        tool_calls=tuple(
            RawCall(part.get("name"), part.get("input"), text(part.get("id")))
            for part in parts
            if part.get("type") == "tool_use"
        ),
        finish=finish(reason),
        refusal=content or "refused" if reason == "refusal" else None,
        usage=_usage(mapping(body.get("usage"))),
        engine=engine(body),
    )


def _usage(data: Body) -> Usage | None:
    """The token counts; input comes in three parts, each of which is counted once."""
    if not data:
        return None
    fresh = count(data.get("input_tokens"))
    cached = count(data.get("cache_read_input_tokens"))
    written = count(data.get("cache_creation_input_tokens"))
    total = None if fresh is None else fresh + (cached or 0) + (written or 0)
    return Usage(input_tokens=total, output_tokens=count(data.get("output_tokens")), cached_tokens=cached)


def _join_stream(events: Iterable[Body]) -> Body:
    """The message, with the additions of later events."""
    message: dict[str, Json] = {}
    parts: dict[int, dict[str, Json]] = {}
    texts: defaultdict[int, list[str]] = defaultdict(list)
    inputs: defaultdict[int, list[str]] = defaultdict(list)
    for event in events:
        index = count(event.get("index")) or 0
        match event.get("type"):
            case "message_start":
                message |= mapping(event.get("message"))
            case "content_block_start":
                parts[index] = dict(mapping(event.get("content_block")))
            case "content_block_delta":
                delta = mapping(event.get("delta"))
                texts[index].append(text(delta.get("text")) or "")
                inputs[index].append(text(delta.get("partial_json")) or "")
            case "message_delta":
                usage = {**mapping(message.get("usage")), **mapping(event.get("usage"))}
                message |= {**mapping(event.get("delta")), "usage": usage}
    for index, added in texts.items():
        part = parts.setdefault(index, {})
        part["text"] = "".join([text(part.get("text")) or "", *added])
        if arguments := "".join(inputs[index]):
            part["input"] = json_or_text(arguments)
    return {**message, "content": [parts[index] for index in sorted(parts)]}


def _fault(body: Body) -> str:
    if body.get("type") != "message" or not isinstance(body.get("content"), list):
        return "is no message"
    return "" if text(body.get("stop_reason")) else "has no stop_reason, so that it may be cut short"


def _stream_fault(stream: Stream) -> str:
    kinds = [event.get("type") for event in stream.events]
    if "message_start" not in kinds:
        return "is a stream that begins without message_start"
    return "" if "message_stop" in kinds else "is a stream that ends without message_stop"


ANTHROPIC_INTERFACE = WireInterface(
    "any:anthropic/",
    _messages,
    frozenset({"system", "messages"}),
    _reply,
    _join_stream,
    _END_OF_STREAM,
    _fault,
    _stream_fault,
)

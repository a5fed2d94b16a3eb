"""OpenAI's Responses, as apps use it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from pytest_fcall.backends.interfaces.interface import WireInterface
from pytest_fcall.backends.interfaces.stream import Body, Stream
from pytest_fcall.backends.openai.answer_fields import items, mapping
from pytest_fcall.backends.openai.responses import read_reply
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Message
from pytest_fcall.schema.wire_tools import tools_for_wire

_END_OF_STREAM = re.compile(rb'"type" ?: ?"response\.(?:completed|incomplete|failed)"')
_LAST_EVENTS = ("response.completed", "response.incomplete", "response.failed")


def _messages(body: Body) -> Iterator[Message]:
    """Instructions are a system message; other items, such as results of calls, stay unchanged."""
    if (instructions := body.get("instructions")) is not None:
        yield {"role": "system", "content": instructions}
    for item in items(body.get("input")):
        yield {"role": "user", "content": item} if isinstance(item, str) else mapping(item)


def _reply(body: Body) -> Reply | None:
    return read_reply(body, tools_for_wire(()))


def _join_stream(events: Iterable[Body]) -> Body:
    """The response in the last event."""
    responses = (mapping(event.get("response")) for event in events if event.get("type") in _LAST_EVENTS)
    return next(responses, {})


def _fault(body: Body) -> str:
    status = body.get("status")
    if status in ("queued", "in_progress") and body.get("background"):
        return ""  # the app asks for the rest at another path
    if not isinstance(body.get("output"), list):
        return "holds no output"
    if status is None:
        return "has no status, so that it may be cut short"
    return "" if status in ("completed", "incomplete") else f"has the status {json.dumps(status)}"


def _stream_fault(stream: Stream) -> str:
    ended = any(event.get("type") in _LAST_EVENTS for event in stream.events)
    return "" if ended else "is a stream that ends without response.completed"


RESPONSES_INTERFACE = WireInterface(
    "openai:",
    _messages,
    frozenset({"instructions", "input"}),
    _reply,
    _join_stream,
    _END_OF_STREAM,
    _fault,
    _stream_fault,
)

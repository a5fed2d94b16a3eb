"""OpenAI's Responses, as apps use it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_fcall.backends.interfaces.interface import Body, Interface
from pytest_fcall.backends.openai.answer_fields import items, mapping
from pytest_fcall.backends.openai.responses import read
from pytest_fcall.core import Message, Reply
from pytest_fcall.schema.wire_tools import tools_for_wire

_END = re.compile(rb'"type" ?: ?"response\.(?:completed|incomplete|failed)"')
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def _messages(body: Body) -> Iterator[Message]:
    """Instructions are a system message; items that are no messages, such as results of calls, stay as they are."""
    if (instructions := body.get("instructions")) is not None:
        yield {"role": "system", "content": instructions}
    for item in items(body.get("input")):
        yield {"role": "user", "content": item} if isinstance(item, str) else mapping(item)


def _reply(body: Body) -> Reply | None:
    return read(body, tools_for_wire(()))


def _joined_stream(events: Iterable[Body]) -> Body:
    """The response that the last event brings."""
    ends = (mapping(event.get("response")) for event in events if event.get("type") in _ENDS)
    return next(ends, {})


RESPONSES_INTERFACE = Interface(
    "openai:", _messages, frozenset({"instructions", "input"}), _reply, _joined_stream, _END
)

"""Responses, as an app speaks it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_fcall.backends.forms.form import Body, Form
from pytest_fcall.backends.openai.fields import items, mapping
from pytest_fcall.backends.openai.responses import read
from pytest_fcall.core import Message, Reply
from pytest_fcall.schema.wires import outgoing

_END = re.compile(rb'"type" ?: ?"response\.(?:completed|incomplete|failed)"')
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def _said(body: Body) -> Iterator[Message]:
    """Instructions are a system message; items that are no messages, such as results of calls, stay as they are."""
    if (instructions := body.get("instructions")) is not None:
        yield {"role": "system", "content": instructions}
    for item in items(body.get("input")):
        yield {"role": "user", "content": item} if isinstance(item, str) else mapping(item)


def _reply(body: Body) -> Reply | None:
    return read(body, outgoing(()))


def _whole(events: Iterable[Body]) -> Body:
    """The response that the last event brings."""
    ends = (mapping(event.get("response")) for event in events if event.get("type") in _ENDS)
    return next(ends, {})


RESPONSES = Form("openai:", _said, frozenset({"instructions", "input"}), _reply, _whole, _END)

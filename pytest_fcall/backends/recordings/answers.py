"""The Reply in a recorded HTTP answer to an app."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from pytest_fcall.backends.interfaces.anthropic import ANTHROPIC_INTERFACE
from pytest_fcall.backends.interfaces.chat import CHAT_INTERFACE
from pytest_fcall.backends.interfaces.interface import Interface, stream_events
from pytest_fcall.backends.interfaces.responses import RESPONSES_INTERFACE
from pytest_fcall.backends.openai.answer_fields import mapping
from pytest_fcall.backends.recordings.entry import HttpAnswer, Recording, UnreadRecording
from pytest_fcall.core import Json, Reply

EVENT_STREAM = "text/event-stream"

_INTERFACES: Mapping[str, Interface] = MappingProxyType(
    {"/chat/completions": CHAT_INTERFACE, "/responses": RESPONSES_INTERFACE, "/messages": ANTHROPIC_INTERFACE}
)


def interface_of(path: str) -> Interface | None:
    """The interface that a path leads to; None where it leads to no model."""
    ending = path.partition("?")[0]
    return next((form for known, form in _INTERFACES.items() if ending.endswith(known)), None)


def read_recording(unread: UnreadRecording) -> Recording:
    """Read it, whatever it is; an answer that cannot be read is malformed."""
    reply = replace(_reply(interface_of(unread.path), unread.wire), seconds=unread.seconds)
    return Recording(unread.case, unread.digest, unread.request, reply, unread.recorded, unread.wire)


def _reply(form: Interface | None, wire: HttpAnswer) -> Reply:
    if form is None:
        return Reply()
    streamed = wire.content_type.startswith(EVENT_STREAM)
    answer = form.join_stream(stream_events(wire.body)) if streamed else mapping(_lenient_json(wire.body))
    said = form.reply(answer) if wire.status < 400 else None
    return said or Reply(malformed=f"The provider's answer (HTTP {wire.status}) holds no reply.", finish="unknown")


def _lenient_json(body: bytes) -> Json:
    try:
        value: Json = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value

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
    """The interface that is served at this path; None if no model is."""
    path = path.partition("?")[0]
    return next((interface for ending, interface in _INTERFACES.items() if path.endswith(ending)), None)


def read_recording(unread: UnreadRecording) -> Recording:
    """Read the Reply in a recorded answer. An answer that cannot be read becomes a malformed Reply."""
    reply = replace(_reply(interface_of(unread.path), unread.http_answer), seconds=unread.seconds)
    return Recording(unread.case, unread.digest, unread.request, reply, unread.recorded, unread.http_answer)


def _reply(interface: Interface | None, answer: HttpAnswer) -> Reply:
    if interface is None:
        return Reply()
    if answer.content_type.startswith(EVENT_STREAM):
        data = interface.join_stream(stream_events(answer.body))
    else:
        data = mapping(_lenient_json(answer.body))
    reply = interface.reply(data) if answer.status < 400 else None
    return reply or Reply(malformed=f"The provider's answer (HTTP {answer.status}) holds no reply.", finish="unknown")


def _lenient_json(body: bytes) -> Json:
    try:
        value: Json = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value

"""What an answer says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from pytest_fcall.backends.forms.chat import CHAT
from pytest_fcall.backends.forms.events import events
from pytest_fcall.backends.forms.form import Form
from pytest_fcall.backends.forms.messages import MESSAGES
from pytest_fcall.backends.forms.responses import RESPONSES
from pytest_fcall.backends.openai.fields import mapping
from pytest_fcall.backends.recorded import Recorded, Unread
from pytest_fcall.backends.wire import Wire
from pytest_fcall.core import Json, Reply

STREAM = "text/event-stream"

_FORMS: Mapping[str, Form] = MappingProxyType(
    {"/chat/completions": CHAT, "/responses": RESPONSES, "/messages": MESSAGES}
)


def form_of(path: str) -> Form | None:
    """The interface that a path leads to; None where it leads to no model."""
    ending = path.partition("?")[0]
    return next((form for known, form in _FORMS.items() if ending.endswith(known)), None)


def read(unread: Unread) -> Recorded:
    """Read it, whatever it is; an answer that cannot be read is malformed."""
    reply = replace(_reply(form_of(unread.path), unread.wire), seconds=unread.seconds)
    return Recorded(unread.case, unread.digest, unread.request, reply, unread.recorded, unread.wire)


def _reply(form: Form | None, wire: Wire) -> Reply:
    if form is None:
        return Reply()
    streamed = wire.content_type.startswith(STREAM)
    answer = form.whole(events(wire.body)) if streamed else mapping(_json(wire.body))
    said = form.reply(answer) if wire.status < 400 else None
    return said or Reply(malformed=f"The provider's answer (HTTP {wire.status}) holds no reply.", finish="unknown")


def _json(body: bytes) -> Json:
    try:
        value: Json = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value

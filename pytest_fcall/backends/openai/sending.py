"""A request in its last form, ready to be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from pytest_fcall.backends.openai.chat import CHAT
from pytest_fcall.backends.openai.question import Form, Question, question
from pytest_fcall.backends.openai.responses import RESPONSES
from pytest_fcall.backends.openai.settings import Asking, asking
from pytest_fcall.core import Json, Request
from pytest_fcall.core.same import Same


@dataclass(frozen=True, slots=True)
class Sending:
    """What goes over the wire, and what is needed to read the answer."""

    how: Asking
    asked: Question
    form: Form
    body: bytes


def sending(name: str, settings: Mapping[str, Json], request: Request, *, official: bool) -> Sending:
    """Prepare `request` for the model that the provider calls `name`.

    Raises ValueError, OSError or RecursionError, in words, for a request that cannot be sent.
    """
    how = asking(settings, request.settings)
    asked = question(name, request, how, official=official)
    form = RESPONSES if how.responses else CHAT
    return Sending(how, asked, form, _bytes({**form.written(asked), **how.extra_body}))


def _bytes(body: Mapping[str, Json]) -> bytes:
    if body.get("stream"):
        raise ValueError("`stream` cannot be asked for: answers are read whole")
    try:
        text = _text({name: value for name, value in body.items() if name != "tools"})
        if "tools" in body:
            text = f'{text[:-1]}, "tools": {_text_of_tools(Same(body["tools"]))}}}'
        return text.encode()
    except TypeError as error:
        raise ValueError(f"the request cannot be sent: {error}") from None


@lru_cache(maxsize=256)
def _text_of_tools(tools: Same[Json]) -> str:
    """Requests share their tools, which are most of what is sent."""
    return _text(tools.it)


def _text(value: Json) -> str:
    return json.dumps(value, allow_nan=False, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"it holds a {type(value).__name__}, which JSON has no form for")

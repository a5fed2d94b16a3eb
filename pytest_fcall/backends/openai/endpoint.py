"""An endpoint of OpenAI's interface, and a Request prepared for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_fcall.backends.openai.settings import RequestSettings
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Interface, Request
from pytest_fcall.core.values import Json, Message
from pytest_fcall.schema.wire_tools import WireFormat, WireTools, WireWording, tools_for_wire

_TOOL_SETTINGS = ("tool_choice", "parallel_tool_calls")
_REASONERS: Final = re.compile(r"\bo[1-9]\b|\bgpt-5")
"""Models of OpenAI that refuse requests with a temperature, by whichever server."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A request in the provider's terms, and the decoder for the answer."""

    model: str
    messages: Sequence[Message]
    wire_tools: WireTools
    sampling: Mapping[str, Json]
    decoder: str | None
    is_official: bool
    """Whether the server is OpenAI's own."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One of OpenAI's interfaces."""

    path: str
    request_body: Callable[[WireRequest], Mapping[str, Json]]
    read_reply: Callable[[Mapping[str, Json], WireTools], Reply | None]
    """The reply in the body of an answer, None where there is none. Calls have the tools' own names again."""


def wire_request(model: str, request: Request, settings: RequestSettings, *, official: bool) -> WireRequest:
    """Prepare a request for the wire. Raises ValueError where that is impossible."""
    messages: Sequence[Message] = request.messages
    decoder, tools = settings.decoder, request.tools
    worded = _wording(request, settings)
    if worded is not None:
        messages = worded.wording.messages(messages, worded.interface)
    if settings.tools_in_prompt:
        from pytest_fcall.backends.tool_prompts import DEFAULT_STYLE, with_tools_in_prompt

        style = decoder or DEFAULT_STYLE
        messages = with_tools_in_prompt(request, style)
        decoder = style if tools else None  # without tools, the prompt describes no form of a call
        tools = ()
    sampling, left_out = _accepted(model, request, settings.sampling)
    seed = sampling.get("seed")
    if request.sample and isinstance(seed, int):
        sampling = {**sampling, "seed": seed + request.sample}  # with the same seed, samples might all be equal
    if not tools:  # providers refuse these settings where there are no tools
        sampling = {name: value for name, value in sampling.items() if name not in _TOOL_SETTINGS}
    wire = WireFormat("responses" if settings.uses_responses else "chat", settings.strict)
    sent = tools_for_wire(tools, wire, None if settings.strict else worded)
    if left_out:
        sent = replace(sent, changes=(*sent.changes, *left_out))
    return WireRequest(model, messages, sent, sampling, decoder, official)


def _wording(request: Request, settings: RequestSettings) -> WireWording | None:
    if request.wording is None:
        return None
    own: Interface = "responses" if settings.uses_responses else "openai"
    return WireWording(request.wording, settings.handler or own)


def _accepted(model: str, request: Request, sampling: Mapping[str, Json]) -> tuple[Mapping[str, Json], Sequence[str]]:
    """The settings without those that only a suite proposes and the model does not take, and a note on these."""
    if "temperature" not in request.proposed or not _REASONERS.search(model):
        return sampling, ()
    kept = {name: value for name, value in sampling.items() if name != "temperature"}
    return kept, ("the suite's `temperature` is left out: the model takes none",)

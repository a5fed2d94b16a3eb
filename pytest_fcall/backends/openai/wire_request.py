"""A Request prepared for the wire, and the endpoint that it is sent to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.backends.openai.settings import RequestSettings
from pytest_fcall.core import Json, Message, Reply, Request
from pytest_fcall.schema.wire_tools import WireFormat, WireTools, tools_for_wire

_TOOL_SETTINGS = ("tool_choice", "parallel_tool_calls")


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
    decoder, tools, sampling = settings.decoder, request.tools, settings.sampling
    if settings.tools_in_prompt:
        from pytest_fcall.backends.tool_prompts import DEFAULT_STYLE, with_tools_in_prompt

        style = decoder or DEFAULT_STYLE
        messages = with_tools_in_prompt(request, style)
        decoder = style if tools else None  # without tools, the prompt describes no form of a call
        tools = ()
    seed = sampling.get("seed")
    if request.sample and isinstance(seed, int):
        sampling = {**sampling, "seed": seed + request.sample}  # with the same seed, samples might all be equal
    if not tools:  # providers refuse these settings where there are no tools
        sampling = {name: value for name, value in sampling.items() if name not in _TOOL_SETTINGS}
    wire = WireFormat("responses" if settings.uses_responses else "chat", settings.strict)
    return WireRequest(model, messages, tools_for_wire(tools, wire), sampling, decoder, official)

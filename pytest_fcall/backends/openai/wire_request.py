"""A Request prepared for the wire, and the endpoint it is sent to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.backends.openai.settings import RequestSettings
from pytest_fcall.backends.tool_prompts import DEFAULT_STYLE, prompted
from pytest_fcall.core import Json, Message, Reply, Request
from pytest_fcall.schema.wire_tools import WireFormat, WireTools, tools_for_wire

_ABOUT_TOOLS = ("tool_choice", "parallel_tool_calls")


@dataclass(frozen=True, slots=True)
class WireRequest:
    """What is asked, and how the answer is to be read."""

    model: str
    messages: Sequence[Message]
    out: WireTools
    sampling: Mapping[str, Json]
    decoder: str | None
    official: bool
    """Whether OpenAI itself is asked."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One of OpenAI's interfaces."""

    path: str
    written: Callable[[WireRequest], Mapping[str, Json]]
    """The body to send."""
    read: Callable[[Mapping[str, Json], WireTools], Reply | None]
    """The reply in a body, None where there is none. Calls have the tools' own names again."""


def wire_request(model: str, request: Request, asking: RequestSettings, *, official: bool) -> WireRequest:
    """Put a request into words for the wire. Raises ValueError, in words, where that cannot be done."""
    messages: Sequence[Message] = request.messages
    decoder, tools = asking.decoder, request.tools
    if asking.prompt:
        messages, style = prompted(request, decoder or DEFAULT_STYLE)
        decoder = style if tools else None  # the model was told of no form of a call
        tools = ()
    wire = WireFormat("responses" if asking.responses else "chat", asking.strict)
    sampling = _with_seed_of_sample(asking.sampling, request.sample)
    return WireRequest(
        model=model,
        messages=messages,
        out=tools_for_wire(tools, wire),
        sampling=sampling if tools else _without(sampling, _ABOUT_TOOLS),
        decoder=decoder,
        official=official,
    )


def _with_seed_of_sample(settings: Mapping[str, Json], sample: int) -> Mapping[str, Json]:
    """Each sample has a seed of its own: by the same one, the answer might as well not be asked for again."""
    seed = settings.get("seed")
    return {**settings, "seed": seed + sample} if sample and isinstance(seed, int) else settings


def _without(settings: Mapping[str, Json], names: Sequence[str]) -> dict[str, Json]:
    """What is said of tools is refused by providers where there are none."""
    return {name: value for name, value in settings.items() if name not in names}

"""A request to a model or to an app, and the tools that it offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, get_args

from pytest_fcall.core.values import Json, Message

if TYPE_CHECKING:
    from datetime import datetime

Interface: TypeAlias = Literal[
    "openai",
    "responses",
    "anthropic",
    "google",
    "mistral",
    "cohere",
    "amazon",
    "fireworks",
    "novita",
    "writer",
    "local",
]
"""An interface by which models are asked, of those that benchmarks write for: `openai` is Chat Completions."""
INTERFACES: Final[tuple[Interface, ...]] = get_args(Interface)


@dataclass(frozen=True, slots=True)
class Tool:
    """Name, description and parameters of one function.

    `parameters` is a JSON Schema (draft 2020-12) of an object, whatever dialect it was written in.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Json] = field(default_factory=lambda: {"type": "object", "properties": {}})
    source: str = ""
    """The place from which the tool was read, for messages; not part of its identity."""
    declared: Mapping[str, Json] | None = field(default=None, compare=False)
    """The parameters as written, in their original dialect, from which the `bfcl` profile takes types."""
    origin: Mapping[str, Json] | None = field(default=None, compare=False, repr=False)
    """The code that answers its calls, where the source names it: `{"python": "shop.tools:search"}`, `{"mcp": …}`.

    `name` in it is the tool's name there, where the case file uses another.
    """
    returns: Mapping[str, Json] | None = field(default=None, repr=False)
    """Its result, as its source describes it. Only a Wording sends it."""


class Wording(Protocol):
    """Writes requests word for word as the programs of a benchmark do. It is hashable, and equal if it writes alike."""

    def messages(self, messages: Sequence[Message], interface: Interface) -> Sequence[Message]:
        """Return the messages as they are sent."""
        ...

    def function(self, tool: Tool, interface: Interface) -> Mapping[str, Json]:
        """Return the name, the description and the parameters of a tool as they are sent, with what else is sent."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """Messages, tools and sampling settings. `request_digest` gives a request a stable name."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    settings: Mapping[str, Json] = field(default_factory=dict, repr=False)
    """Not part of the `repr`, since settings may contain keys."""
    sample: int = 0
    """The index of the request among those with the same content in one run."""
    now: datetime | None = None
    """The clock of the case. `python:` and `http:` backends receive it; it is not part of the digest."""
    proposed: frozenset[str] = frozenset()
    """The names of settings that only a suite proposes. A model that does not take one is asked without it."""
    wording: Wording | None = None
    """Writes the request for models that are asked directly; None where the back end does it in its own way."""


@dataclass(frozen=True, slots=True)
class AppRequest:
    """A request as an app gets it: plain lists and dicts in OpenAI's form, which the app may change."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    settings: dict[str, Any] = field(default_factory=dict)
    now: datetime | None = None
    """The case's clock: the time that the app should take for the present."""

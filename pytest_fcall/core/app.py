"""The inner work of an app while it answers a case: its requests to models, its spans, and expectations on both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_fcall.core.reply import Reply

if TYPE_CHECKING:
    from pytest_fcall.core.expectation import Expectation
    from pytest_fcall.core.operators import Pattern
    from pytest_fcall.core.request import Request, Tool
    from pytest_fcall.core.values import Json


@dataclass(frozen=True, slots=True)
class AppExchange:
    """One request that an app sent to a model, and the reply."""

    model: str
    """The name by which the app addressed the model; empty for requests of other kinds, such as embeddings."""
    request: Request
    reply: Reply
    priced_as: str = ""
    """The name of the model in the table of prices, such as `openai:gpt-5.2`."""
    recorded: float | None = None
    """The time of the recording that gave the reply, in seconds since 1970; None for a new reply."""
    ended: float = 0.0
    """The time at which the provider's answer was there, in seconds since 1970; 0 if unknown."""
    unread: str = ""
    """The path of a request whose answer may hold calls, and is of no interface that is read."""
    broken: str = ""
    """The fault of an answer that was passed on to the app and not recorded, with the path of the request."""


def unknown_requests_reason(exchanges: Iterable[AppExchange]) -> str:
    """The reason why an app's requests to models are not all known; empty where they are."""
    paths = dict.fromkeys(exchange.unread for exchange in exchanges if exchange.unread)
    return f"the app also sent requests to {', '.join(paths)}, which are recorded and not read" if paths else ""


NO_EXCHANGE = Reply("the app sent no model request through the proxy")
"""The last reply to an app that sent no request."""


@dataclass(frozen=True, slots=True)
class WireExpectation:
    """Expectations on all requests that an app sends to models in one case. None expects nothing."""

    calls: Expectation | None = None
    count: Pattern = None
    """The number of requests."""
    tools: Pattern = None
    """The names of the offered tools, each once, in the order of their first offer."""
    models: Pattern = None
    """The names of the models, each once, in the order of their first use."""
    tokens: Pattern = None
    """Input and output tokens of all requests together."""
    cost: Pattern = None
    """In US dollars."""
    known_tools: tuple[Tool, ...] = field(default=(), kw_only=True, repr=False, compare=False)
    """The tools that `calls` may name. No part of what is expected, as which of them are offered is up to the app."""


@dataclass(frozen=True, slots=True)
class RanTool:
    """A tool that ran, whether it failed or not."""

    name: str
    arguments: Mapping[str, Json] | None
    """None where no span tells them by their names."""


@dataclass(frozen=True, slots=True)
class AppSpans:
    """The facts that the spans of one case tell, in the order in which things began."""

    tools: tuple[RanTool, ...] = ()
    models: tuple[str, ...] = ()
    """The names by which models were asked, each once."""
    fault: str = ""
    """The reason why the spans cannot be judged, and the remedy; empty where they can."""


def joined_spans(parts: Iterable[AppSpans]) -> AppSpans:
    """The spans of several steps as those of one."""
    known = [*parts]
    return AppSpans(
        tuple(tool for each in known for tool in each.tools),
        tuple(dict.fromkeys(model for each in known for model in each.models)),
        next((each.fault for each in known if each.fault), ""),
    )


@dataclass(frozen=True, slots=True)
class SpansExpectation:
    """Expectations on the spans of an app in one case. None expects nothing."""

    calls: Expectation | None = None
    """The tools that ran."""
    models: Pattern = None
    """The names of the models, each once, in the order in which they were asked first."""
    known_tools: tuple[Tool, ...] = field(default=(), kw_only=True, repr=False, compare=False)
    """The tools that `calls` may name. No part of what is expected, as which of them the app has is up to it."""

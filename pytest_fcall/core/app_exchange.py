"""The requests that an app sends to models while it answers a case, and the expectations on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_fcall.core.reply import Reply

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_fcall.core.expectation import Expectation
    from pytest_fcall.core.operators import Pattern
    from pytest_fcall.core.request import Request, Tool


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
    """When the provider's answer was there, in seconds since 1970; 0 if unknown."""
    unread: str = ""
    """The path of a request whose answer may hold calls, and is of no interface that is read."""
    broken: str = ""
    """The fault of an answer that was passed on to the app and not recorded, with the path of the request."""


def why_unread(exchanges: Iterable[AppExchange]) -> str:
    """Why it is not known what an app asked of models; empty where all that may be is read."""
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

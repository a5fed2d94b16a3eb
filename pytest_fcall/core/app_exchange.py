"""Requests that an app sends to models while it answers a case, and what the case expects of them."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request


@dataclass(frozen=True, slots=True)
class AppExchange:
    """One request that an app sent to a model, and the reply."""

    model: str
    """The name that the app asked by; empty where it asked for something else than an answer, such as embeddings."""
    request: Request
    reply: Reply
    priced_as: str = ""
    """By which name prices know the model, such as `openai:gpt-5.2`."""
    recorded: float | None = None
    """When the reply was recorded if that was not now, in seconds since 1970."""


NO_EXCHANGE = Reply("no model was asked by way of the proxy")
"""Stands for the last reply to an app that has asked nothing."""


@dataclass(frozen=True, slots=True)
class WireExpectation:
    """What must be true of all that an app asks of models in one case. What is None is free."""

    calls: Expectation | None = None
    count: Pattern = None
    """How many requests."""
    tools: Pattern = None
    """The names of the tools that were offered, each once, in the order of their first offer."""
    models: Pattern = None
    """The names of the models, in the same way."""
    tokens: Pattern = None
    """Input and output together, over all requests."""
    cost: Pattern = None
    """In US dollars."""

"""The model under test, the protocol of its backend, and the reasons why there is no reply."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json


@dataclass(frozen=True, slots=True)
class Model:
    """`KIND:NAME?key=value&…`, taken apart."""

    kind: str
    name: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Not shown where a model is: there may be a key in an address."""

    @classmethod
    def by_id(cls, text: str) -> Model:
        """The model of an id, without options."""
        kind, _, name = text.partition(":")
        return cls(kind, name)

    @property
    def id(self) -> str:
        """`KIND:NAME`: the model's name in node ids, recordings and baselines. Options are no part of it."""
        return f"{self.kind}:{self.name}"

    @property
    def folder(self) -> str:
        """The id as a folder name that every file system takes; a short digest keeps unusual names apart."""
        plain = re.sub(r"[^a-z0-9._-]", "-", self.name.lower()).strip(".") or "-"
        if plain == self.name:
            return f"{self.kind}-{plain}"
        return f"{self.kind}-{plain[:80]}-{hashlib.sha256(self.name.encode()).hexdigest()[:6]}"


class ModelUnavailable(Exception):
    """No request can be answered by this model: bad key, unknown name, module not found. The text says what to do."""


class CaseRefused(Exception):
    """This request can never be answered, though others can: too long for the model, stopped by a filter."""


class Unanswered(Exception):
    """No reply came, though one may when it is asked for again: the network failed, or a server was busy or broken."""

    def __init__(self, text: str, *, retry_after: float | None = None, throttled: bool = False) -> None:
        super().__init__(text)
        self.retry_after = retry_after
        """Seconds to wait, where the server says so."""
        self.throttled = throttled
        """Whether there were too many requests."""


class Backend(Protocol):
    """An API, a local model, or the team's own app."""

    @property
    def settings(self) -> Mapping[str, Json]:
        """What shapes the answer and is sent with every request that does not say otherwise, such as a temperature.

        It is put under each request's own settings, so that it counts where recordings are told apart.
        """
        ...

    @property
    def reusable(self) -> bool:
        """Whether a reply may answer the same request in a later run.

        False where the request does not show everything that the answer depends on, such as an app's code.
        """
        ...

    @property
    def ahead(self) -> bool:
        """Whether a request may be answered before its test has started, in another thread.

        False where the answer may depend on the test's fixtures, as that of an app called in process does.
        """
        ...

    async def complete(self, request: Request) -> Reply:
        """Answer `request`.

        A failure of the model is a Reply (`malformed`, `refusal`, `finish="length"` …). A failure of anything
        else is raised: `ModelUnavailable` where it would hit every request to this model, `CaseRefused` where this
        request can never be answered, `Unanswered` where asking again may help, anything else as it comes. A back
        end does not ask again by itself.
        """
        ...

    async def close(self) -> None:
        """Give back what was taken. Called once, also after failures."""
        ...


def request_changes(backend: Backend, request: Request) -> Sequence[str]:
    """What a back end sends otherwise than the request has it, a line each, if it has a method `changes` to say so."""
    changes: Callable[[Request], Sequence[str]] | None = getattr(backend, "changes", None)
    return changes(request) if changes else ()


def backend_prompt(backend: Backend, request: Request) -> str | None:
    """What a back end would send for a request, as people read it, if it has a method `prompt` to say so.

    Raises ModelUnavailable and CaseRefused, as asking does.
    """
    prompt: Callable[[Request], str] | None = getattr(backend, "prompt", None)
    return prompt(request) if prompt else None

"""What turns a Request into a Reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json


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


def changes_of(backend: Backend, request: Request) -> Sequence[str]:
    """What a back end sends otherwise than the request has it, a line each, if it has a method `changes` to say so."""
    changes: Callable[[Request], Sequence[str]] | None = getattr(backend, "changes", None)
    return changes(request) if changes else ()


def prompt_of(backend: Backend, request: Request) -> str | None:
    """What a back end would send for a request, as people read it, if it has a method `prompt` to say so.

    Raises ModelUnavailable and CaseRefused, as asking does.
    """
    prompt: Callable[[Request], str] | None = getattr(backend, "prompt", None)
    return prompt(request) if prompt else None

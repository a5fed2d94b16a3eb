"""The model under test, the protocols of its backend, and the errors of requests without a reply."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from pytest_fcall.core.reply import Reply
    from pytest_fcall.core.request import Request
    from pytest_fcall.core.values import Json


_NOT_IN_FOLDERS = re.compile(r"[^a-z0-9._-]")
"""Characters that not all file systems have, or distinguish."""
_KIND = re.compile(r"[A-Za-z0-9_-]{0,40}")
_LONGEST_NAME = 200
_NAME_SHOWN = 80
APP_KINDS = frozenset({"python", "http"})
"""Kinds of models that are apps: they run again whatever is recorded, and their requests do not show what answers."""


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:6]


@dataclass(frozen=True, slots=True)
class Model:
    """The parts of `KIND:NAME?key=value&…`."""

    kind: str
    name: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Not part of the `repr`, since an address may contain a key."""

    @classmethod
    def by_id(cls, text: str) -> Model:
        """Make the model of an id, without options."""
        kind, _, name = text.partition(":")
        return cls(kind, name)

    @property
    def id(self) -> str:
        """`KIND:NAME`: the model's name in node ids, recordings and baselines. Options are not part of it."""
        return f"{self.kind}:{self.name}"

    @property
    def folder(self) -> str:
        """The id as a folder name for every file system, with a short digest where the name had to be changed."""
        plain = _NOT_IN_FOLDERS.sub("-", self.name.lower()).strip(".") or "-"
        if _KIND.fullmatch(self.kind):
            if plain == self.name and len(plain) <= _LONGEST_NAME:
                return f"{self.kind}-{plain}"
            return f"{self.kind}-{plain[:_NAME_SHOWN]}-{_short_digest(self.name)}"
        kind = _NOT_IN_FOLDERS.sub("-", self.kind.lower()).strip(".")  # of a file that somebody else wrote
        return f"{kind[:_NAME_SHOWN]}-{plain[:_NAME_SHOWN]}-{_short_digest(self.id)}"


class ModelUnavailable(Exception):
    """This model can answer no request: bad key, unknown name, module not found. The message says what to do."""


class CaseRefused(Exception):
    """This request can never be answered, but others can: it is too long for the model, or a filter stopped it."""


class Unanswered(Exception):
    """There is no reply, but another attempt may succeed: the network failed, or a server was busy or broken."""

    def __init__(
        self,
        text: str,
        *,
        retry_after: float | None = None,
        throttled: bool = False,
        billable: bool = False,
        unreachable: bool = False,
    ) -> None:
        super().__init__(text)
        self.retry_after = retry_after
        """The seconds to wait, if the server gives them."""
        self.throttled = throttled
        """Whether the server reported too many requests."""
        self.billable = billable
        """Whether the provider may bill for it: the wait for the answer was given up, or the answer broke off."""
        self.unreachable = unreachable
        """Whether there was no connection to a server, so that the request was not sent."""


class Backend(Protocol):
    """An API, a local model, or the team's own app."""

    @property
    def settings(self) -> Mapping[str, Json]:
        """Settings that apply to every request unless it has its own, such as a temperature.

        They are merged into the settings of each request, so that they are part of the key of its recording.
        """
        ...

    @property
    def reusable(self) -> bool:
        """Whether a reply may answer the same request in a later run.

        False where the reply depends on more than the request, such as an app's code.
        """
        ...

    @property
    def ahead(self) -> bool:
        """Whether a request may be answered before its test starts, in another thread.

        False where the reply may depend on the test's fixtures, as that of an app called in process.
        """
        ...

    async def complete(self, request: Request) -> Reply:
        """Answer `request`.

        A failure of the model is a Reply (`malformed`, `refusal`, `finish="length"` …). Any other failure is raised:
        `ModelUnavailable` if every request to this model would fail, `CaseRefused` if this request can never be
        answered, `Unanswered` if another attempt may succeed, any other error as it comes. A backend does not retry.
        """
        ...

    async def close(self) -> None:
        """Release all resources. Called once, also after failures."""
        ...


class OfflineBody(NamedTuple):
    """The body of a request as its backend would send it."""

    path: str
    """The path below the address of the provider, such as `/v1/chat/completions`."""
    body: Mapping[str, Json]


class OfflineBackend(Protocol):
    """A backend whose requests others can send for it."""

    async def offline_body(self, request: Request) -> OfflineBody:
        """Give the body of a request; nothing is sent. Raises CaseRefused."""
        ...

    async def offline_reply(self, request: Request, status: int, body: bytes) -> Reply:
        """Read the provider's answer to such a body. Raises as `Backend.complete` does."""
        ...


def request_changes(backend: Backend, request: Request) -> Sequence[str]:
    """Give the changes that a backend makes to a request, a line each, if it has a method `changes`."""
    changes: Callable[[Request], Sequence[str]] | None = getattr(backend, "changes", None)
    return changes(request) if changes else ()


def check_backend(backend: Backend) -> None:
    """Raise ModelUnavailable where a backend can answer no request, if it has a method `check`.

    Nothing is sent, started or loaded to find that out.
    """
    check: Callable[[], None] | None = getattr(backend, "check", None)
    if check:
        check()


def app_note(backend: Backend) -> str:
    """Give a line on what an app and the cases differ in, if its backend has a method `note`; else nothing."""
    note: Callable[[], str] | None = getattr(backend, "note", None)
    return note() if note else ""


def throughput_of(backend: Backend) -> tuple[int, str] | None:
    """Give the number of answered requests and their speed in words, if a backend has a method `throughput`.

    Workers that share a process report the same work: of several reports, the one with the most requests is the last.
    """
    throughput: Callable[[], tuple[int, str] | None] | None = getattr(backend, "throughput", None)
    return throughput() if throughput else None


def backend_prompt(backend: Backend, request: Request) -> str | None:
    """Give the prompt that a backend sends for a request, if it has a method `prompt`.

    Raises ModelUnavailable and CaseRefused, as `complete` does.
    """
    prompt: Callable[[Request], str] | None = getattr(backend, "prompt", None)
    return prompt(request) if prompt else None


def offline_backend(backend: Backend) -> OfflineBackend | None:
    """Give the backend as one whose requests others can send, if it is one. It wraps no other backend."""
    return cast("OfflineBackend", backend) if hasattr(backend, "offline_body") else None

"""An app at work on one case: the requests it sends, their numbers, and their answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol, overload

from pytest_fcall.backends.interfaces.interface import (
    NO_TOOLS,
    Interface,
    OfferedTools,
    read_offered_tools,
    without_long_data,
)
from pytest_fcall.backends.openai.answer_fields import mapping, text
from pytest_fcall.backends.recordings.answers import interface_of, read_recording
from pytest_fcall.backends.recordings.entry import HttpAnswer, Recording, UnreadRecording
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core import AppExchange, Json, Request, canonical, digest

if TYPE_CHECKING:
    from pytest_fcall.backends.costs.budget import Bill


_BOUNDARY = re.compile(rb"--[^\r\n]{1,70}(?=\r\n)")
_BOOKKEEPING_FIELDS = ("metadata", "user", "safety_identifier", "prompt_cache_key")
"""What is sent for the provider's books, often another value each time. No answer depends on it."""
_TOOLS_PLACEHOLDER = token_hex(16)
"""Holds their place. Nobody can have written it, since nobody is told."""


@dataclass(frozen=True, slots=True)
class ForwardedRequest:
    """One request, whatever interface it is for."""

    method: str
    path: str
    """Below the address of the provider, with what stands behind a question mark."""
    digest: str
    """Tells it from others; address, headers and keys are no part of it."""
    body: Json
    """What is asked; how much, where that is no JSON."""
    model: str = ""
    """The name of the model, where one is asked for an answer."""
    form: Interface | None = None
    """The interface, where a model is asked for an answer."""
    offered: OfferedTools = NO_TOOLS
    """The tools of such a request, which `body` is without."""

    def request(self, sample: int = 0) -> Request:
        """What is asked, as it is shown and judged; `sample` is its number among its equals."""
        try:
            if self.form is not None:
                return self.form.request(mapping(self.body), self.offered, sample)
            return _request_in_words(self.method, self.path, without_long_data(self.body), sample)
        except RecursionError:
            return _request_in_words(self.method, self.path, "a body that nests too deeply", sample)

    @property
    def priced_as(self) -> str:
        """By which name prices know the model."""
        return f"{self.form.price_prefix}{self.model}" if self.form else ""

    def has_ended(self, stream: bytes) -> bool:
        """Whether the end of an answer is in these bytes of a stream; of what is no answer, it may be anywhere."""
        return self.form is None or self.form.end_of_stream.search(stream) is not None


def read_forwarded_request(method: str, path: str, content: bytes) -> ForwardedRequest:
    """Read a request, whatever it is. What is no JSON is known again by its bytes, of a form by those of its fields."""
    form = interface_of(path)
    try:
        body: Json = _STRICT_JSON.decode(content.decode(json.detect_encoding(content))) if content else None
        if not isinstance(body, dict):
            return ForwardedRequest(method, path, digest([method, path, body]), body)
        told = {key: value for key, value in body.items() if key not in _BOOKKEEPING_FIELDS}
        if form is None:
            return ForwardedRequest(method, path, digest([method, path, told]), body)
        tools = read_offered_tools(body.pop("tools", None))
        name = _digest_with_tools(method, path, told, tools)
    except (ValueError, RecursionError):
        name = digest([method, path, sha256(_without_boundary(content)).hexdigest()])
        return ForwardedRequest(method, path, name, f"{len(content)} bytes")
    return ForwardedRequest(method, path, name, body, text(body.get("model")) or "", form, tools)


def _digest_with_tools(method: str, path: str, told: dict[str, Json], tools: OfferedTools) -> str:
    """`digest([method, path, told])`, without writing down again what is known of the tools."""
    if "tools" in told:
        told["tools"] = _TOOLS_PLACEHOLDER
    written = canonical([method, path, told]).replace(f'"{_TOOLS_PLACEHOLDER}"', tools.text, 1)
    return sha256(written.encode("ascii")).hexdigest()


def _without_boundary(content: bytes) -> bytes:
    """A form with files, without what its parts are told apart by: that is another each time."""
    boundary = _BOUNDARY.match(content)
    return content.replace(boundary[0], b"--") if boundary else content


def _request_in_words(method: str, path: str, body: Json, sample: int) -> Request:
    return Request(({"role": "user", "content": f"{method} {path}"},), (), without_secrets({"body": body}), sample)


def _refuse(constant: str) -> None:
    raise ValueError(f"it holds {constant}")


_STRICT_JSON = json.JSONDecoder(parse_constant=_refuse)
"""`json.loads` would make one for each request."""


class _UnreadInner(NamedTuple):
    model: str
    priced_as: str
    entry: UnreadRecording


class InnerRequests(Sequence[AppExchange]):
    """The requests of an app in the order in which answers were there, each read when somebody first looks at it.

    It grows while the app is at work, which does not wait for the reading.
    """

    def __init__(self) -> None:
        self._told: list[AppExchange | _UnreadInner] = []

    def __len__(self) -> int:
        return len(self._told)

    @overload
    def __getitem__(self, index: int) -> AppExchange: ...

    @overload
    def __getitem__(self, index: slice) -> list[AppExchange]: ...

    def __getitem__(self, index: int | slice) -> AppExchange | list[AppExchange]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        told = self._told[index]
        if isinstance(told, _UnreadInner):
            entry = read_recording(told.entry)
            told = self._told[index] = AppExchange(told.model, entry.request, entry.reply, told.priced_as)
        return told

    def add(self, inner: AppExchange) -> None:
        """Note a request that was answered from a recording."""
        self._told.append(inner)

    def add_unread(self, model: str, priced_as: str, entry: UnreadRecording) -> None:
        """Note a request that a provider has just answered; of whom, and of whom for prices, as in `Inner`."""
        self._told.append(_UnreadInner(model, priced_as, entry))


class CaseRecordings(Protocol):
    """What was recorded for one case. Called by the thread of the proxy."""

    def find(self, digest: str) -> Recording | None:
        """The reply that is to be given again for a request; None where a provider is to be asked."""
        ...

    def all(self) -> Iterable[Recording]:
        """All that there is for the case."""
        ...


class AppBudget(Protocol):
    """Money for what apps ask. Called by the thread of the proxy."""

    def paying(self, asked: ForwardedRequest, provider: str) -> AbstractAsyncContextManager[Bill]:
        """Hold what it can cost, and settle what it did cost. Raises ModelUnavailable where it cannot be paid."""
        ...


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """Whose requests they are. Equal requests from two places are two requests."""

    model: str
    """Under whose name replies are kept."""
    file: str
    case: str
    sample: int = 0


class NumberedRequest(NamedTuple):
    """A request with its number among its equals, and the name that its reply is kept by."""

    asked: ForwardedRequest
    number: int
    name: str
    """Its own and that of its equals."""
    digest: str


@dataclass(slots=True)
class AppRun:
    """What one app asks for one case. Safe with the threads of the app and of the proxy."""

    place: RequestOrigin
    tape: CaseRecordings
    live: bool
    """Whether providers may be asked for what is not recorded."""
    upstreams: Mapping[str, str]
    """The addresses of the providers, by the variables that lead to them."""
    purse: AppBudget | None = None
    """Who pays, where that is limited."""
    inside: InnerRequests = field(default_factory=InnerRequests)
    """What was asked and answered."""
    missing: list[str] = field(default_factory=list)
    """Why requests could not be answered, in words."""
    unkept: list[str] = field(default_factory=list)
    """Why replies could not be kept, in words."""
    unpaid: list[str] = field(default_factory=list)
    """Why requests could not be paid, in words."""
    _busy: set[tuple[str, int]] = field(default_factory=set)
    """The numbers that are taken, by names."""
    _lock: Lock = field(default_factory=Lock)

    def take(self, asked: ForwardedRequest) -> NumberedRequest:
        """Number a request among its equals, in the order in which they come."""
        place = self.place
        name = digest([asked.digest, place.model, place.file, place.case, place.sample])
        with self._lock:
            number = next(number for number in count() if (name, number) not in self._busy)
            self._busy.add((name, number))
        return NumberedRequest(asked, number, name, digest([name, number]))

    def give_up(self, taken: NumberedRequest) -> None:
        """Free the number of a request that failed: when it is sent again, it is still the same one."""
        with self._lock:
            self._busy.discard((taken.name, taken.number))

    def replayed(self, taken: NumberedRequest) -> HttpAnswer | None:
        """The recorded reply to a request, which counts as one that the app has asked."""
        found = self.tape.find(taken.digest)
        if found is None or found.wire is None:
            return None
        asked = taken.asked
        self.inside.add(AppExchange(asked.model, found.request, found.reply, asked.priced_as, found.moment))
        return found.wire

    def paying(self, taken: NumberedRequest, provider: str) -> AbstractAsyncContextManager[Bill]:
        """Pay for a request, if a model is to answer it and somebody counts the money. Raises ModelUnavailable."""
        from pytest_fcall.backends.costs.budget import Bill

        if self.purse is None or not taken.asked.model:
            return nullcontext(Bill())
        return self.purse.paying(taken.asked, provider)

    def answered(self, taken: NumberedRequest, wire: HttpAnswer, seconds: float) -> UnreadRecording:
        """Note what the app is given; it is kept like this."""
        request = taken.asked.request(taken.number)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        unread = UnreadRecording(self.place.case, taken.digest, request, taken.asked.path, wire, seconds, now)
        self.inside.add_unread(taken.asked.model, taken.asked.priced_as, unread)
        return unread

    def lacks(self, taken: NumberedRequest) -> str:
        """Note that there is no reply, and say what is new about the request."""
        from pytest_fcall.backends.recordings.differences import explain_missing_among

        request = taken.asked.request(taken.number)
        asked = taken.asked.model or f"{taken.asked.method} {taken.asked.path}"
        number = len(self.inside) + 1
        text = f"request {number} to {asked} is not recorded\n{explain_missing_among(request, self.tape.all())}"
        self.missing.append(text)
        return text

"""An app at work on one case: the requests it sends, their numbers, and their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol, overload

from pytest_fcall.backends.proxy.forwarded_request import ForwardedRequest
from pytest_fcall.backends.recordings.answers import read_recording
from pytest_fcall.backends.recordings.entry import HttpAnswer, Recording, UnreadRecording
from pytest_fcall.backends.recordings.volatile import NOTHING_VOLATILE, Volatile
from pytest_fcall.core.app import AppExchange
from pytest_fcall.core.digests import digest
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.secrets import Secrets

if TYPE_CHECKING:
    from pytest_fcall.backends.budget import Bill


class _UnreadExchange(NamedTuple):
    forwarded: ForwardedRequest
    entry: UnreadRecording


class InnerRequests(Sequence[AppExchange]):
    """The requests of an app in the order of their answers. Each is read at first access, while the app works on."""

    def __init__(self) -> None:
        self._exchanges: list[AppExchange | _UnreadExchange] = []

    def __len__(self) -> int:
        return len(self._exchanges)

    @overload
    def __getitem__(self, index: int) -> AppExchange: ...

    @overload
    def __getitem__(self, index: slice) -> list[AppExchange]: ...

    def __getitem__(self, index: int | slice) -> AppExchange | list[AppExchange]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        exchange = self._exchanges[index]
        if isinstance(exchange, _UnreadExchange):
            entry = read_recording(exchange.entry)
            exchange = exchange.forwarded.exchange(entry.request, entry.reply, ended=entry.timestamp)
            self._exchanges[index] = exchange
        return exchange

    def add(self, exchange: AppExchange) -> None:
        """Add a request whose answer was read."""
        self._exchanges.append(exchange)

    def add_unread(self, forwarded: ForwardedRequest, entry: UnreadRecording) -> None:
        """Add a request that a provider has answered."""
        self._exchanges.append(_UnreadExchange(forwarded, entry))


class CaseRecordings(Protocol):
    """The recordings of one case. Called in the thread of the proxy."""

    def find(self, digest: str) -> Recording | None:
        """The recording to replay for a request; None if a provider is to be asked."""
        ...

    def all(self) -> Iterable[Recording]:
        """All recordings of the case."""
        ...

    def check(self) -> None:
        """Raise StoreError if an answer could not be recorded."""
        ...


class AppBudget(Protocol):
    """The budget for requests of apps. Called in the thread of the proxy."""

    def paying(self, asked: ForwardedRequest, provider: str) -> AbstractAsyncContextManager[Bill]:
        """Hold what a request can cost, and settle what it did cost. Raises ModelUnavailable if too little is left."""
        ...


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """The model, file, case and sample for which an app works. Equal requests of two origins are two requests."""

    model: str
    """The id under which replies are recorded."""
    file: str
    case: str
    sample: int = 0


class NumberedRequest(NamedTuple):
    """A request of an app with its number among equal requests."""

    request: ForwardedRequest
    number: int
    equals_digest: str
    """The digest that equal requests of the same origin share."""
    digest: str
    """The digest under which the reply is recorded."""


@dataclass(slots=True)
class AppRun:
    """The work of an app on one case. Safe with the threads of the app and of the proxy."""

    origin: RequestOrigin
    recordings: CaseRecordings
    live: bool
    """Whether providers may be asked if nothing is recorded."""
    providers: Mapping[str, str]
    """The addresses of the providers, by variable."""
    budget: AppBudget | None = None
    volatile: Volatile = NOTHING_VOLATILE
    """The parts of requests that are no part of their keys."""
    inner_requests: InnerRequests = field(default_factory=InnerRequests)
    """The answered requests."""
    not_recorded: list[str] = field(default_factory=list)
    """Messages about requests without a recording."""
    not_stored: list[str] = field(default_factory=list)
    """Messages about requests whose answers could not have been recorded."""
    not_paid: list[str] = field(default_factory=list)
    """Messages about requests that the budget did not allow."""
    not_keyed: list[str] = field(default_factory=list)
    """Messages about requests on which a pattern of `volatile` takes too long."""
    remarks: list[tuple[str, str]] = field(default_factory=list)
    """Remarks on requests: `unread` or `volatile`, and the subject."""
    left_out: dict[tuple[str, str], None] = field(default_factory=dict)
    """The texts that patterns of `volatile` matched in requests: pairs of a pattern and a text, each once."""
    over: bool = False
    """Whether it is too late for a verdict."""
    is_nobodys: bool = False
    """Whether its requests belong to no case, so that there is no verdict at all."""
    secrets: Secrets = field(default_factory=Secrets)
    """Texts that are never recorded, also of keys that the app sends."""
    strays: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """Requests that are part of no verdict, by their case, empty if nobody's, and by whether they were answered."""
    unpriced: int = 0
    """The requests to models that were forwarded, and may be billed, without a whole answer so far."""
    _broken: list[str] = field(default_factory=list)
    """The faults of answers that were none."""
    _failed: dict[str, str] = field(default_factory=dict)
    """The fate of requests that were not answered, by the digest; of those that were sent again, the last one."""
    _numbers: set[tuple[str, int]] = field(default_factory=set)
    """The digests and numbers in use."""
    _lock: Lock = field(default_factory=Lock)

    def number(self, request: ForwardedRequest) -> NumberedRequest:
        """Number a request among equal ones, in the order of arrival."""
        origin = self.origin
        equals_digest = digest([request.digest, origin.model, origin.file, origin.case, origin.sample])
        with self._lock:
            number = next(number for number in count() if (equals_digest, number) not in self._numbers)
            self._numbers.add((equals_digest, number))
        return NumberedRequest(request, number, equals_digest, digest([equals_digest, number]))

    def release(self, numbered: NumberedRequest) -> None:
        """Release the number of a request that failed, for the same request when it is sent again."""
        with self._lock:
            self._numbers.discard((numbered.equals_digest, numbered.number))

    def replay(self, numbered: NumberedRequest) -> HttpAnswer | None:
        """The recorded answer, which is added to the inner requests.

        Where providers may be asked, one that is not whole does not count: earlier versions recorded such answers.
        """
        recording = self.recordings.find(numbered.digest)
        if recording is None or recording.http_answer is None:
            return None
        if self.live and recording.http_answer.status < 400 and numbered.request.answer_fault(recording.http_answer):
            return None
        moment = recording.timestamp
        exchange = numbered.request.exchange(recording.request, recording.reply, recorded=moment, ended=moment)
        self._failed.pop(numbered.digest, None)
        self.inner_requests.add(exchange)
        self._remark(numbered.request)
        self._count_stray(answered=True)
        return recording.http_answer

    def record(self, numbered: NumberedRequest, answer: HttpAnswer, seconds: float) -> UnreadRecording:
        """Add the answer of a provider to the inner requests, and return it as a recording."""
        self._count_stray(answered=True)
        forwarded = numbered.request
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        request = forwarded.request(numbered.number)
        unread = UnreadRecording(self.origin.case, numbered.digest, request, forwarded.path, answer, seconds, now)
        self._failed.pop(numbered.digest, None)
        self.inner_requests.add_unread(forwarded, unread)
        self._remark(forwarded)
        return unread

    def _remark(self, forwarded: ForwardedRequest) -> None:
        if forwarded.unread:
            self.remarks.append(("unread", forwarded.unread))
        self.remarks += [("volatile", pattern) for pattern in dict.fromkeys(each for each, _ in forwarded.left_out)]
        self.left_out.update(dict.fromkeys(forwarded.left_out))

    def note_broken(self, numbered: NumberedRequest, fault: str) -> None:
        """Note an answer that is none: the app received it, and it is not recorded."""
        self.release(numbered)
        forwarded = numbered.request
        reply = Reply(malformed=f"The answer {fault}; it is not recorded.", finish="unknown")
        broken = f"{forwarded.bare_path} {fault}"
        self.inner_requests.add(AppExchange("", forwarded.request(numbered.number), reply, broken=broken))
        self._broken.append(broken)

    def note_failed(self, numbered: NumberedRequest, fault: str) -> None:
        """Note a request that failed, and may be sent again."""
        self.release(numbered)
        self._failed[numbered.digest] = f"{numbered.request.bare_path} {fault}"

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults of answers that the app received; a failure counts unless the same was answered later."""
        return *self._broken, *self._failed.values()

    def paying(self, numbered: NumberedRequest, provider: str) -> AbstractAsyncContextManager[Bill]:
        """Pay for a request to a model, if there is a budget. Raises ModelUnavailable."""
        from pytest_fcall.backends.budget import Bill

        if self.budget is None or not numbered.request.model:
            return nullcontext(Bill())
        return self.budget.paying(numbered.request, provider)

    @contextmanager
    def forwarding(self, numbered: NumberedRequest, bill: Bill) -> Iterator[None]:
        """Count a request to a model as unpriced until its bill is known."""
        sent = bool(numbered.request.model)
        self.unpriced += sent
        try:
            yield
        except Exception:
            self.unpriced -= sent and not bill.begun
            raise
        self.unpriced -= sent and (bill.free or bill.whole)

    def note_not_recorded(self, numbered: NumberedRequest) -> str:
        """Note that a request has no recording, and return the message, with the differences from the nearest one."""
        from pytest_fcall.backends.recordings.differences import explain_missing_among

        self._count_stray(answered=False)
        forwarded = numbered.request
        target = forwarded.model or f"{forwarded.method} {forwarded.path}"
        differences = explain_missing_among(forwarded.request(numbered.number), self.recordings.all(), self.volatile)
        message = f"request {len(self.inner_requests) + 1} to {target} is not recorded\n{differences}"
        self.not_recorded.append(message)
        return message

    def note_not_paid(self, message: str) -> None:
        """Note that the budget did not allow a request."""
        self._count_stray(answered=False)
        self.not_paid.append(message)

    def _count_stray(self, *, answered: bool) -> None:
        if self.over or self.is_nobodys:
            origin = self.origin
            self.strays["" if self.is_nobodys else f"{origin.file}::{origin.case}", answered] += 1

"""The proxy of a session, between apps and the models that they ask."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol, overload

from pytest_fcall.core import Model, Request
from pytest_fcall.session.ask.no_reply import NotRecorded, OverBudget
from pytest_fcall.session.ask.proxy_variables import ProxyVariables
from pytest_fcall.session.ask.types import Asker, Question, Source
from pytest_fcall.session.outcomes import CaseError

if TYPE_CHECKING:
    from pathlib import Path
    from socket import socket

    from pytest_fcall.backends.proxy.app_run import AppRun
    from pytest_fcall.backends.proxy.case_context import CaseContext
    from pytest_fcall.backends.proxy.case_lookup import AppRuns
    from pytest_fcall.backends.proxy.listener import LazyListener
    from pytest_fcall.backends.recordings.entry import Recording
    from pytest_fcall.backends.recordings.volatile import Volatile
    from pytest_fcall.backends.store import NewReply
    from pytest_fcall.core import AppExchange
    from pytest_fcall.session.ask.costs import Spending
    from pytest_fcall.session.ask.recordings import SessionRecordings
    from pytest_fcall.session.settings import Settings


_NOBODY = "nobody"
"""Stands where a case, and an app, would be named."""


class AppElsewhere(Protocol):
    """The way in which an app in another process finds the proxy."""

    by_hand: bool
    """Whether it was started before the run, by `fcall proxy`."""
    group: str
    """The part of its addresses that stands for the one case that it works on; empty where cases share them."""


class _ActiveRun(Sequence["AppExchange"]):
    """A run of an app as the requests in it, and the number of those who wait for it.

    The run is made with the first request that the app sends, since most apps under test send none.
    """

    __slots__ = ("_make", "_over", "run", "token", "users")

    def __init__(self, make: Callable[[], AppRun]) -> None:
        self._make = make
        self._over = False
        self.run: AppRun | None = None
        self.token = ""
        self.users = 0

    def __call__(self) -> AppRun:
        """The run. Called by the thread of the proxy, which takes one request at a time."""
        if self.run is None:
            self.run = self._make()
            self.run.over = self._over
        return self.run

    def end(self) -> None:
        """Note that what is answered from now on is too late for the verdict."""
        self._over = True
        if self.run is not None:
            self.run.over = True

    def __len__(self) -> int:
        return len(self.run.inner_requests) if self.run else 0

    @overload
    def __getitem__(self, index: int) -> AppExchange: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[AppExchange]: ...

    def __getitem__(self, index: int | slice) -> AppExchange | Sequence[AppExchange]:
        return (self.run.inner_requests if self.run else ())[index]


class CaseRecordings(NamedTuple):
    """The requests of an app that are recorded for one case."""

    recordings: SessionRecordings
    question: Question
    """The question of the case, put to the models of the app."""
    live: bool

    def find(self, digest: str) -> Recording | None:
        """The recorded reply that answers the request; it is marked as used.

        Where models may be asked, a failure does not count: its cause may be mended.
        """
        from http import HTTPStatus

        question = self.question._replace(digest=digest)
        found = self.recordings.find(question, live=self.live)
        if found is None or (self.live and found.http_answer and found.http_answer.status >= HTTPStatus.BAD_REQUEST):
            return None
        self.recordings.mark_used(question)
        return found

    def all(self) -> Sequence[Recording]:
        """All recordings of the case."""
        return self.recordings.of_case(self.question)


class AppProxy:
    """Starts the proxy with the first app that sends a request, and knows the case that each app works on."""

    def __init__(self, settings: Settings, recordings: SessionRecordings, spending: Spending) -> None:
        self._settings = settings
        self._recordings = recordings
        self._spending = spending.of_apps()
        self.variables = _variables(settings)
        self._lock = Lock()
        self._active: dict[tuple[str, str, str, int], _ActiveRun] = {}
        self._runs: AppRuns | None = None
        self._listener: LazyListener | None = None
        self._context: CaseContext | None = None
        self._nobody: AppRun | None = None
        self._announced: Path | None = None
        self.unpriced: Counter[str] = Counter()
        """Requests of apps that may be billed although no whole answer came, by the node id of the test."""
        self.remarks: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        """What people are told of requests of apps, by the node id of the test."""

    def has_recordings(self, question: Question) -> bool:
        """Whether requests of the app are recorded for this case, so that it can run without its models."""
        if not self._settings.proxy:
            return False
        inside = _question_inside(question)
        return self._recordings.has_any(inside) and self._recordings.nearest(inside) is not None

    @contextmanager
    def in_process(self, question: Question) -> Iterator[Sequence[AppExchange] | None]:
        """Let what an app in this process sends meanwhile belong to the question; the list grows with each request.

        Gives None without a proxy. Raises NotRecorded and OverBudget for requests that were not answered, whatever the
        app made of it, and StoreError for answers that could not be recorded.
        """
        if not self._settings.proxy:
            yield None
            return
        from pytest_fcall.backends.proxy.case_context import working_on

        runs = self._known_runs()
        self._begin_context(runs)
        self.variables.begin(self._base(runs.in_process), offline=not self._may_ask(question))
        try:
            with self._run(question, runs.in_process) as active, working_on(runs.mark(active.token)):
                yield active
        finally:
            self.variables.end()

    @contextmanager
    def elsewhere(self, question: Question, app: AppElsewhere) -> Iterator[Sequence[AppExchange] | None]:
        """Do the same for an app in another process, which learns the addresses from the request to it."""
        if not self._settings.proxy:
            yield None
            return
        from pytest_fcall.backends.proxy.case_lookup import CASE_TAG, CaseTag, case_headers

        runs = self._known_runs()
        group = app.group or runs.by_hand
        if app.by_hand:
            self._announce(runs.by_hand)
        with self._run(question, group) as active:
            offline = not self._may_ask(question)
            bases = self.variables.values(self._base(active.token), offline=offline)
            headers = case_headers(active.token, next(iter(bases.values()), ""))
            tag = CASE_TAG.set(CaseTag(headers, self.variables.values(self._base(group), offline=offline)))
            try:
                yield active
            finally:
                CASE_TAG.reset(tag)

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Wait until no other run uses an app that was started by hand."""
        from pytest_fcall.backends.proxy.announcements import exclusive_app_use

        return exclusive_app_use(self._settings.root) if self._settings.proxy else nullcontext()

    @property
    def strays(self) -> Mapping[tuple[str, bool], int]:
        """Requests that are part of no verdict: see `AppRun.strays`."""
        return dict(self._runs.strays) if self._runs else {}

    def close(self) -> None:
        """Stop serving."""
        self.variables.restore()
        if self._context is not None:
            self._context.end()
        if self._announced is not None:
            self._announced.unlink(missing_ok=True)
        if self._listener is not None:
            self._listener.close()

    @contextmanager
    def _run(self, question: Question, group: str) -> Iterator[_ActiveRun]:
        origin = question.source.id, self._recordings.file_name(question), question.asker.case, question.request.sample
        active = self._begin(question, origin, group)
        try:
            yield active
        except Exception:  # whatever an app makes of a request that failed, the failure is the reason
            _raise_failures(active)
            raise
        finally:
            with self._lock:
                active.users -= 1
                if not active.users:
                    active.end()
                    del self._active[origin]
                    self._known_runs().remove(active.token)
                    if active.run:
                        self.unpriced[question.asker.nodeid] += active.run.unpriced
                        self.remarks[question.asker.nodeid] += active.run.remarks
        _raise_failures(active)

    def _begin(self, question: Question, origin: tuple[str, str, str, int], group: str) -> _ActiveRun:
        with self._lock:
            active = self._active.get(origin)
            if active is None:
                active = self._active[origin] = _ActiveRun(partial(self._new_run, question))
                active.token = self._known_runs().add(active, group)
            active.users += 1
        return active

    def _new_run(self, question: Question) -> AppRun:
        from pytest_fcall.backends.proxy.app_run import AppRun, RequestOrigin

        inside, live = _question_inside(question), self._may_ask(question)
        file = self._recordings.file_name(question)
        origin = RequestOrigin(inside.source.id, file, question.asker.case, question.request.sample)
        recordings = CaseRecordings(self._recordings, inside, live)
        volatile, strays = self._volatile(question.model), self._known_runs().strays
        return AppRun(origin, recordings, live, self.variables.upstreams(), self._spending, volatile, strays=strays)

    def _volatile(self, model: Model) -> Volatile:
        """What of the requests of an app is no part of their keys."""
        from pytest_fcall.backends.recordings.volatile import NOTHING_VOLATILE, Volatile
        from pytest_fcall.session.ask.volatile import volatile_patterns

        patterns = volatile_patterns(self._settings.volatile, model)
        return Volatile(patterns) if patterns else NOTHING_VOLATILE

    def _nobodys_run(self) -> AppRun:
        """The run of requests that belong to no case, whose recordings lie beside the first conftest file."""
        if self._nobody is None:
            from pytest_fcall.session.models import NamedModel

            settings = self._settings
            live = settings.live or any(named.live for named in settings.models)
            asker = Asker(settings.root / "conftest.py", _NOBODY, _NOBODY, _NOBODY)
            source = Source(NamedModel(Model("app", _NOBODY), "fixture", live=live), None)
            self._nobody = self._new_run(Question(source, Request(()), asker, ""))
            self._nobody.is_nobodys = True
        return self._nobody

    def _begin_context(self, runs: AppRuns) -> None:
        """Have requests say which case they belong to, from the first app on."""
        if self._context is None:
            from pytest_fcall.backends.proxy.case_context import CaseContext

            self._context = CaseContext(runs)
            self._context.begin()

    def _may_ask(self, question: Question) -> bool:
        """Whether the app's models may be asked."""
        return question.source.named.live and not self._settings.replay

    def _announce(self, group: str) -> None:
        """Let apps find the proxy that `fcall proxy` has started."""
        if self._announced is None:
            from pytest_fcall.backends.proxy.announcements import announce

            self._announced = announce(self._settings.root, self._base(group))

    def _known_runs(self) -> AppRuns:
        if self._runs is None:
            from pytest_fcall.backends.proxy.case_lookup import AppRuns

            self._runs = AppRuns(self._nobodys_run)
        return self._runs

    def _base(self, token: str) -> str:
        if self._listener is None:
            from pytest_fcall.backends.proxy.listener import LazyListener

            self._listener = LazyListener(self._serve)
        return f"http://127.0.0.1:{self._listener.port}/{token}"

    async def _serve(self, connections: socket, end: Coroutine[None, None, object]) -> None:
        """Serve the connections. The server is imported only now, with the first one."""
        from pytest_fcall.backends.proxy.proxy import Proxy

        await Proxy(self._known_runs(), self._record).serve(connections, end)

    def _record(self, replies: Sequence[NewReply]) -> None:
        if self._settings.record != "off":
            self._recordings.store.put_all(replies)


def recorded_for_other_case(recordings: SessionRecordings, question: Question) -> tuple[str, str] | None:
    """The case, and its file, for which both an app's reply and the app's own requests are recorded, if one is."""
    model = _wire_model(question.model).id
    files = recordings.files_of(model)
    found = recordings.find(question, live=False, request=question.request) if files else None
    if found is None:
        return None
    return next(((found.case, file) for file in files if recordings.store.nearest(model, file, found.case)), None)


def _wire_model(model: Model) -> Model:
    """The name under which requests of an app are recorded."""
    return Model("wire", model.id)


def _question_inside(question: Question) -> Question:
    named = replace(question.source.named, model=_wire_model(question.model))
    return question._replace(source=Source(named, None))


def _variables(settings: Settings) -> ProxyVariables:
    from pytest_fcall.backends.proxy.variables import read_variables

    return ProxyVariables(read_variables(settings.proxy_variables) if settings.proxy else {})


def _raise_failures(active: _ActiveRun) -> None:
    run = active.run
    if run is None or not (run.not_keyed or run.not_recorded or run.not_paid or run.not_stored):
        return
    if run.not_keyed:
        raise CaseError(run.not_keyed[0]) from None
    from pytest_fcall.backends.store import StoreError

    if run.not_recorded:
        raise NotRecorded(run.not_recorded[0]) from None
    if run.not_paid:
        raise OverBudget(run.not_paid[0]) from None
    raise StoreError(run.not_stored[0]) from None

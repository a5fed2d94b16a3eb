"""Requests on their way to models, and replies on their way back."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from pytest_fcall.core.backend import Backend, app_note
from pytest_fcall.core.reply import Reply, Usage
from pytest_fcall.session.ask.app_loop import AppLoop
from pytest_fcall.session.ask.app_proxy import AppProxy
from pytest_fcall.session.ask.types import AppTrace, Asker, Question, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from pytest_fcall.backends.dispatch.dispatcher import Dispatcher
    from pytest_fcall.backends.dispatch.job import AnsweredJob, Claim, DispatchProgress, Job
    from pytest_fcall.backends.recordings.volatile import LeftOut
    from pytest_fcall.session.ask.active_run import ActiveRun
    from pytest_fcall.session.ask.recordings import SessionRecordings
    from pytest_fcall.session.ask.remote_app import CaseScopedApp, RemoteApp
    from pytest_fcall.session.settings import Settings

_T = TypeVar("_T")


_MOST_HELD: Final = 1000
"""So many replies are held for those who ask the same once more, before the first of them is let go."""


class ProgressDisplay(Protocol):
    """Shows people how far the requests are."""

    def wait(self, future: Future[_T]) -> _T:
        """Wait for what is asked for."""
        ...

    def paid(self, model: str, usage: Usage | None) -> None:
        """Count the cost of a reply."""
        ...


ProgressDisplayFactory: TypeAlias = "Callable[[Callable[[], DispatchProgress], int], ProgressDisplay]"


class ReceivedReply(NamedTuple):
    """A reply, and what was seen of an app on the way to it; None of what is no app, and without a proxy."""

    reply: Reply
    trace: AppTrace | None = None


def result_of(future: Future[_T]) -> _T | None:
    """The result of a future; None where there is none, or not yet."""
    succeeded = future.done() and not future.cancelled() and future.exception() is None
    return future.result() if succeeded else None


class Transport:
    """Asks servers in the dispatcher's thread, and the team's own app where its test runs; records every reply."""

    def __init__(
        self,
        settings: Settings,
        recordings: SessionRecordings,
        proxy: AppProxy,
        new_display: ProgressDisplayFactory,
    ) -> None:
        self._settings = settings
        self._recordings = recordings
        self._proxy = proxy
        self._new_display = new_display
        self._first_askers: dict[str, Asker] = {}
        """The tests for which replies were asked, by the digests of the questions."""
        self._answered: deque[str] = deque()
        """The digests of questions whose replies may be let go, oldest first."""
        self._unpriced: Counter[str] = Counter()
        """Requests that may be billed although there was no reply, by the node id of the test."""
        self._ahead: dict[str, Future[Reply]] = {}
        """Replies that were asked for ahead of the tests that want them."""
        self._dispatcher: Dispatcher | None = None
        self._display: ProgressDisplay | None = None
        self._app_loop = AppLoop()
        self._remote_apps: dict[int, RemoteApp] = {}
        self._sent_to: set[str] = set()
        self._apps: dict[str, Backend] = {}
        """Apps in this process that were called, by the names of models."""
        self.expected = 0
        """Number of requests to come, as far as that is known."""

    def progress(self) -> DispatchProgress | None:
        """The progress of the dispatcher's requests; None where there is none."""
        return self._dispatcher.progress() if self._dispatcher else None

    def is_under_way(self, digest: str) -> bool:
        """Whether a reply was asked for ahead, and no test has taken it yet."""
        return digest in self._ahead

    def finished_reply(self, digest: str) -> Reply | None:
        """The reply that was asked for ahead, once it is there."""
        return result_of(self._ahead[digest]) if digest in self._ahead else None

    def is_pending(self, digest: str) -> bool:
        """Whether a reply was asked for ahead and is not there yet."""
        return digest in self._ahead and not self._ahead[digest].done()

    def _note_secrets(self, question: Question) -> None:
        """Note the keys that the request itself brings, before anybody can say them back."""
        if settings := question.request.settings:
            from pytest_fcall.backends.known_secrets import secrets_of_settings

            self._settings.secrets.add(secrets_of_settings(settings))

    def ask_ahead(self, backend: Backend, question: Question) -> Future[Reply]:
        """Ask for a reply that a test will want."""
        self._note_secrets(question)
        future = self._ahead[question.digest] = self._submit(backend, question)
        return future

    def ask(self, backend: Backend, question: Question) -> ReceivedReply:
        """Ask, and wait for the reply. Raises what the backend raises, NotRecorded and StoreError."""
        self._check_store(question)
        self._note_secrets(question)
        if question.source.is_app:
            self._apps[question.source.id] = backend
            with self._proxy.in_process(question) as active:
                reply = self._app_loop.call(backend, question.request)
            return self._received(question, self._proxy.with_spans(question, active, reply), active)
        return self._taken(backend, question, self.wait(self._submit(backend, question)))

    async def ask_async(self, backend: Backend, question: Question) -> ReceivedReply:
        """Do what `ask` does, in the event loop of an async test."""
        self._check_store(question)
        self._note_secrets(question)
        if question.source.is_app:
            self._apps[question.source.id] = backend
            with self._proxy.in_process(question) as active:
                reply = await self._app_loop.call_async(backend, question.request)
            return self._received(question, await self._proxy.with_spans_async(question, active, reply), active)
        from asyncio import wrap_future

        return self._taken(backend, question, await wrap_future(self._submit(backend, question)))

    def _taken(self, backend: Backend, question: Question, reply: Reply) -> ReceivedReply:
        """The reply that a test takes."""
        self._mark_use(question)
        received = ReceivedReply(reply, self._trace(backend, question))
        # An app's reply belongs to one test; any other is in the store, unless that is not to have it or could not.
        if question.source.asks_models or self._recordings.takes_replies:
            self._answered.append(question.digest)
            if len(self._answered) > _MOST_HELD:
                self._let_go(self._answered.popleft())
        return received

    def _let_go(self, digest: str) -> None:
        """Let go of a reply: those of thousands of cases would pile up."""
        self._first_askers.pop(digest, None)
        if self._dispatcher is not None:
            self._dispatcher.forget(digest)
        for app in self._remote_apps.values():
            app.traces.pop(digest, None)

    def _check_store(self, question: Question) -> None:
        """Raise StoreError if the reply could not be recorded, unless it is on its way already."""
        if question.source.named.live and not self._settings.replay and question.digest not in self._ahead:
            self._recordings.check()

    def _received(self, question: Question, reply: Reply, active: ActiveRun | None) -> ReceivedReply:
        """The reply of an app in this process, which is recorded unless it rests on an answer that was none."""
        trace = None if active is None else active.trace()
        if not (trace and trace.faults):
            self._recordings.record_soon(question, reply)
        return ReceivedReply(reply, trace)

    def runs_offline(self, question: Question) -> bool:
        """Whether an app can run again without the models that it asks."""
        return question.source.asks_models and self.has_recordings_inside(question)

    def has_recordings_inside(self, question: Question) -> bool:
        """Whether requests of an app are recorded for the case, or the test, of the question."""
        return self._proxy.has_recordings(question)

    def is_known_to_ask(self, source: Source, asker: Asker) -> bool:
        """Whether an app is known to ask models; see `AppProxy.is_known_to_ask`."""
        return self._proxy.is_known_to_ask(source, asker)

    def collect_exchanges(self, question: Question) -> AbstractContextManager[ActiveRun | None]:
        """Let what an app in this process sends meanwhile belong to this question; see `AppProxy.in_process`."""
        return self._proxy.in_process(question)

    def start(self, work: Coroutine[object, None, _T]) -> Future[_T]:
        """Start a coroutine in the dispatcher's thread."""
        return self._dispatching().run(work)

    def wait(self, future: Future[_T]) -> _T:
        """Wait for something that was started in the dispatcher's thread."""
        return self._display.wait(future) if self._display else future.result()

    def run_here(self, work: Coroutine[object, None, _T]) -> _T:
        """Run a coroutine in this thread, and wait."""
        return self._app_loop.run(work)

    def unpriced(self, nodeid: str) -> int:
        """The number of requests of a test that may be billed although there was no reply."""
        return self._unpriced[nodeid] + self._proxy.unpriced[nodeid]

    def remarks(self, nodeid: str) -> tuple[tuple[str, str], ...]:
        """Remarks on requests that an app sent in a test: a kind, and what it is about."""
        return tuple(self._proxy.remarks.get(nodeid, ()))

    def left_out(self, nodeid: str) -> LeftOut:
        """The parts left out of the keys of requests that an app sent in a test."""
        return tuple(self._proxy.left_out.get(nodeid, ()))

    def notes(self) -> list[str]:
        """Sentences on limits that cannot be kept to by all workers together, and on apps that differ from cases."""
        note = self._dispatcher.progress().warning if self._dispatcher else ""
        notes = {name: app_note(backend) for name, backend in self._apps.items()}
        return [*([note] if note else ()), *(f"{name}: {text}" for name, text in notes.items() if text)]

    def strays(self) -> Mapping[tuple[str, bool], int]:
        """Requests of apps that are part of no verdict: see `AppRun.strays`."""
        return self._proxy.strays

    def take_spans(self) -> None:
        """Take the spans of apps from now on; see `AppProxy.take_spans`."""
        self._proxy.take_spans()

    def span_strays(self) -> Mapping[tuple[str, str], int]:
        """Spans that are part of no verdict: see `SpanInbox.strays`."""
        return self._proxy.span_strays

    def cancel(self) -> None:
        """Give up what is under way, and ask for nothing more."""
        if self._dispatcher is not None:
            self._dispatcher.cancel_all()

    def close(self, apps: Iterable[Backend]) -> None:
        """End all that runs, and close the backends of apps where they were used."""
        if self._dispatcher is not None:
            self._dispatcher.close()
        self._proxy.close()
        self._app_loop.close(apps)

    def _submit(self, backend: Backend, question: Question) -> Future[Reply]:
        from pytest_fcall.backends.dispatch.job import Job

        if future := self._ahead.pop(question.digest, None):
            return future
        self._first_askers.setdefault(question.digest, question.asker)
        if question.source.id not in self._sent_to:
            self._sent_to.add(question.source.id)
            self._proxy.variables.restore()  # some libraries read their addresses with the first request
        claim = self._claim(backend, question)
        if question.source.asks_models:
            backend = self._case_scoped(backend, question)
        job = Job(question.source.id, backend, question.request, question.digest, claim, question)
        return self._dispatching().submit(job)

    def _claim(self, backend: Backend, question: Question) -> Claim | None:
        """Let only one of several workers, and of several hosts, ask for a reply: a case may move from one to another.

        Apps are left out: the worker that wants an app's reply must see the requests that the app sends meanwhile.
        """
        source, worker = question.source, self._settings.worker
        is_alone = worker is None and self._settings.store is None
        if (
            is_alone
            or source.asks_models
            or not (backend.ahead and source.named.live)
            or self._settings.record == "off"
        ):
            return None
        from pytest_fcall.backends.store.request_claim import RequestClaim

        owner = worker.id if worker else "main"
        return RequestClaim(question.digest, self._recordings.store, self._recordings.since, owner)

    def _case_scoped(self, backend: Backend, question: Question) -> CaseScopedApp:
        """The app, asked so that its own requests are known to belong to the case."""
        from pytest_fcall.session.ask.remote_app import CaseScopedApp, RemoteApp

        if id(backend) not in self._remote_apps:
            self._remote_apps[id(backend)] = RemoteApp(backend, self._proxy)
        return CaseScopedApp(backend, self._remote_apps[id(backend)], question)

    def _trace(self, backend: Backend, question: Question) -> AppTrace | None:
        app = self._remote_apps.get(id(backend))
        return app.traces.get(question.digest) if app else None

    def _rests_on_fault(self, question: Question) -> bool:
        trace = self._trace(question.source.backend, question) if question.source.backend else None
        return trace is not None and bool(trace.faults)

    def _mark_use(self, question: Question) -> None:
        """A reply is recorded for the test that asked first; mark it as used by others that asked the same."""
        if question.asker != self._first_askers.get(question.digest):
            self._recordings.mark_used(question)

    def _dispatching(self) -> Dispatcher:
        if self._dispatcher is None:
            from pytest_fcall.backends.dispatch.dispatcher import Dispatcher
            from pytest_fcall.session.ask.costs import request_limits

            self._dispatcher = Dispatcher(
                request_limits(self._settings, self._recordings),
                self._record,
                remote_replies=self._settings.store is not None,
                on_unpriced=self._count_unpriced,
            )
            self._display = self._new_display(self._dispatcher.progress, self.expected)
        return self._dispatcher

    def _record(self, arrivals: Sequence[AnsweredJob]) -> None:
        """Record replies the moment that they are there; called by the dispatcher's thread.

        Those of apps that rest on an answer that was none are left out.
        """
        asked = ((cast("Question", job.owner), reply) for job, reply in arrivals)
        self._recordings.record_answers([each for each in asked if not self._rests_on_fault(each[0])])
        if self._display:
            for job, reply in arrivals:
                self._display.paid(job.model_id, reply.usage)

    def _count_unpriced(self, job: Job) -> None:
        self._unpriced[cast("Question", job.owner).asker.nodeid] += 1

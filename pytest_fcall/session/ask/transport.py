"""Requests on their way to models, and replies on their way back."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import pytest

from pytest_fcall.core import AppExchange, Backend, Reply
from pytest_fcall.session.ask.app_proxy import AppProxy
from pytest_fcall.session.ask.recordings import SessionRecordings
from pytest_fcall.session.ask.source import Question
from pytest_fcall.session.outcomes import fail

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Runner
    from collections.abc import Coroutine, Iterable, Sequence
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from pytest_fcall.backends.dispatch.dispatcher import Dispatcher
    from pytest_fcall.backends.dispatch.job import AnsweredJob
    from pytest_fcall.plugin.progress import LiveLine
    from pytest_fcall.session.ask.remote_app import CaseScopedApp, RemoteApp


_T = TypeVar("_T")


class Received(NamedTuple):
    """A reply, and what an app asked of models on the way to it."""

    reply: Reply
    inside: tuple[AppExchange, ...] | None = None


def result_of(future: Future[_T]) -> _T | None:
    """What came of it; None where nothing did, or not yet."""
    came = future.done() and not future.cancelled() and future.exception() is None
    return future.result() if came else None


class Transport:
    """Asks servers in the dispatcher's thread, and the team's own app where its test runs; keeps what comes back."""

    def __init__(self, config: pytest.Config, kept: SessionRecordings) -> None:
        self._config = config
        self._kept = kept
        self._questions: dict[str, Question] = {}
        self._ahead: dict[str, Future[Reply]] = {}
        """What was asked for ahead of the tests that want it."""
        self._dispatcher: Dispatcher | None = None
        self._line: LiveLine | None = None
        self._runner: Runner | None = None
        self._proxying = AppProxy(config, kept)
        self._apps: dict[int, RemoteApp] = {}
        self.expected = 0
        """How many requests are to come, as far as that is known."""

    def is_under_way(self, digest: str) -> bool:
        """Whether a reply was asked for ahead, and no test has taken it yet."""
        return digest in self._ahead

    def arrived(self, digest: str) -> Reply | None:
        """The reply that was asked for ahead, once it is there."""
        return result_of(self._ahead[digest]) if digest in self._ahead else None

    def is_awaited(self, digest: str) -> bool:
        """Whether one was asked for ahead and is not there yet."""
        return digest in self._ahead and not self._ahead[digest].done()

    def ahead(self, backend: Backend, question: Question) -> Future[Reply]:
        """Ask for what a test will want."""
        future = self._ahead[question.digest] = self._submitted(backend, question)
        return future

    def ask(self, backend: Backend, question: Question) -> Received:
        """Ask, and wait for the reply. Raises what the back end raises, NotRecorded and StoreError."""
        if question.source.is_app:
            with self._proxying.here(question) as inside:
                reply = self.work(backend.complete(question.request))
            self._kept.keep_soon(question, reply)
            return Received(reply, None if inside is None else tuple(inside))
        reply = self.wait(self._submitted(backend, question))
        self._note_use(question)
        return Received(reply, self._inside(backend, question))

    async def ask_async(self, backend: Backend, question: Question) -> Received:
        """Do what `ask` does, in the event loop of an async test."""
        if question.source.is_app:
            with self._proxying.here(question) as inside:
                reply = await backend.complete(question.request)
            self._kept.keep_soon(question, reply)
            return Received(reply, None if inside is None else tuple(inside))
        from asyncio import wrap_future

        reply = await wrap_future(self._submitted(backend, question))
        self._note_use(question)
        return Received(reply, self._inside(backend, question))

    def runs_offline(self, question: Question) -> bool:
        """Whether an app can be run again without the models that it asks."""
        return question.source.asks_models and self._proxying.knows(question)

    def overhear(self, question: Question) -> AbstractContextManager[Sequence[AppExchange] | None]:
        """Have what an app in this process asks meanwhile belong to this question; see `Proxying.here`."""
        return self._proxying.here(question)

    def start(self, work: Coroutine[object, None, _T]) -> Future[_T]:
        """Begin something in the dispatcher's thread that asks as it goes."""
        return self._dispatching().run(work)

    def wait(self, future: Future[_T]) -> _T:
        """Wait for what was begun there."""
        return self._line.wait(future) if self._line else future.result()

    def work(self, work: Coroutine[object, None, _T]) -> _T:
        """Do it here, and wait."""
        try:
            here = self._here()
        except BaseException:
            work.close()
            raise
        return here.run_until_complete(work)

    def notes(self) -> list[str]:
        """What the dispatcher has to say."""
        note = self._dispatcher.progress().warning if self._dispatcher else ""
        return [note] if note else []

    def cancel(self) -> None:
        """Ask for nothing more; what is under way is given up."""
        if self._dispatcher is not None:
            self._dispatcher.cancel_all()

    def close(self, apps: Iterable[Backend]) -> None:
        """End all that runs, and close the apps' back ends where they were used."""
        if self._dispatcher is not None:
            self._dispatcher.close()
        self._proxying.close()
        if self._runner is not None:
            for backend in apps:
                self._runner.run(backend.close())
            self._runner.close()

    def _submitted(self, backend: Backend, question: Question) -> Future[Reply]:
        from pytest_fcall.backends.dispatch.job import Job

        if future := self._ahead.pop(question.digest, None):
            return future
        self._questions.setdefault(question.digest, question)
        asked = self._tied(backend, question) if question.source.asks_models else backend
        return self._dispatching().submit(Job(question.model.id, asked, question.request, question.digest))

    def _tied(self, backend: Backend, question: Question) -> CaseScopedApp:
        """The app, asked so that what it asks itself is known to belong to the case."""
        from pytest_fcall.session.ask.remote_app import CaseScopedApp, RemoteApp

        if id(backend) not in self._apps:
            self._apps[id(backend)] = RemoteApp(backend, self._proxying)
        return CaseScopedApp(backend, self._apps[id(backend)], question)

    def _inside(self, backend: Backend, question: Question) -> tuple[AppExchange, ...] | None:
        """What an app has asked on the way to its reply."""
        app = self._apps.get(id(backend))
        return app.inside.get(question.digest) if app else None

    def _note_use(self, question: Question) -> None:
        """A reply is kept for the test that asked first; others that asked the same have it from there."""
        if question.asker != self._questions[question.digest].asker:
            self._kept.used(question)

    def _dispatching(self) -> Dispatcher:
        if self._dispatcher is None:
            from pytest_fcall.backends.dispatch.dispatcher import Dispatcher
            from pytest_fcall.plugin.progress import LiveLine
            from pytest_fcall.session.ask.limits import limits

            self._dispatcher = Dispatcher(limits(self._config), self._arrived)
            self._line = LiveLine(self._config, self._dispatcher.progress, self.expected)
        return self._dispatcher

    def _arrived(self, arrivals: Sequence[AnsweredJob]) -> None:
        """Keep replies the moment that they are there; called by the dispatcher's thread."""
        self._kept.keep_answers([(self._questions[job.digest], reply) for job, reply in arrivals])
        if self._line:
            for job, reply in arrivals:
                self._line.paid(job.model_id, reply.usage)

    def _here(self) -> AbstractEventLoop:
        """The event loop of this thread, which waits as long as something is done in it."""
        import asyncio

        if self._runner is None:
            self._runner = asyncio.Runner()
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            fail("fc_model(…) cannot wait inside an async test: write `await fc_model.ask(…)`")
        return self._runner.get_loop()

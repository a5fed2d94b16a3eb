"""The dispatcher: answers jobs in an event loop of its own, many at a time."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeVar

from pytest_fcall.backends.dispatch.group_writer import Arrival, GroupWriter
from pytest_fcall.backends.dispatch.job import Clock, Figures, Job, Limits, SystemClock
from pytest_fcall.backends.dispatch.sender import Sender
from pytest_fcall.core import Backend, Reply

_T = TypeVar("_T")

SHUTDOWN_SECONDS = 0.4
"""Seconds that each of the two last things may take: requests to be cancelled, and back ends to be closed."""


class Dispatcher:
    """Takes jobs from any thread, and answers them in one thread with one event loop, which starts with the first.

    `on_replies` is called in that thread the moment that replies have arrived, before anybody who waits for them goes
    on; what it raises is what they get. Back ends are used in that event loop alone, and closed there.
    """

    def __init__(
        self,
        limits: Limits,
        on_replies: Callable[[Sequence[Arrival]], object],
        *,
        clock: Clock | None = None,
        jitter: Callable[[], float] | None = None,
    ) -> None:
        self._arrivals = GroupWriter(on_replies)
        self._asking = Sender(limits, clock or SystemClock(), jitter or random.SystemRandom().random)
        self._figures = Figures()
        self._lock = threading.Lock()
        self._open: dict[str, Future[Reply]] = {}
        self._replies: dict[str, Reply] = {}
        self._backends: dict[int, Backend] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, job: Job) -> Future[Reply]:
        """Have the job answered; wait for nothing. What has been asked is not asked twice, unless it failed.

        The future raises `ModelUnavailable`, `CaseRefused`, `Unanswered` once all patience is used up, whatever else
        the back end raised, or `CancelledError`.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("the dispatcher is closed")
            known = self._open.get(job.digest)
            if known is not None and not known.cancelled():
                return known
            future: Future[Reply] = Future()
            if (reply := self._replies.get(job.digest)) is not None:
                future.set_result(reply)
                return future
            if self._thread is None:
                self._start()
            self._open[job.digest] = future
            self._figures.submitted += 1
            self._loop.call_soon_threadsafe(self._begin, job, future)
            return future

    def run(self, work: Coroutine[object, None, _T]) -> Future[_T]:
        """Have something done in the event loop, such as a conversation that submits jobs as it goes."""
        with self._lock:
            if self._closed:
                work.close()
                raise RuntimeError("the dispatcher is closed")
            if self._thread is None:
                self._start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def figures(self) -> Figures:
        """Tell how far the work is."""
        asking = self._asking
        return replace(self._figures, in_flight=asking.gate.running, retried=asking.retried, note=asking.ledger.note)

    def cancel_all(self) -> None:
        """Give up all that has no reply yet, and return at once. More may be submitted."""
        with self._lock:
            futures = self._take_all()
            if self._thread is not None and not self._closed:
                self._loop.call_soon_threadsafe(self._cancel_tasks)
        _cancel(futures)

    def close(self) -> None:
        """Give up what has no reply yet, close the back ends, and end the thread: all within a second."""
        with self._lock:
            futures = self._take_all()
            if self._thread is not None and not self._closed:
                self._loop.call_soon_threadsafe(self._stop.set)
            self._closed = True
        _cancel(futures)
        if self._thread is not None:
            self._thread.join(2.5 * SHUTDOWN_SECONDS)

    def _start(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="fcall-dispatch", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._live())

    async def _live(self) -> None:
        await self._stop.wait()
        self._cancel_tasks()
        await _wait_briefly(self._tasks)
        self._arrivals.hand_on_all()
        await _wait_briefly({asyncio.ensure_future(_close(backend)) for backend in self._backends.values()})
        self._asking.ledger.close()

    def _begin(self, job: Job, future: Future[Reply]) -> None:
        self._backends[id(job.backend)] = job.backend
        task = self._loop.create_task(self._answer(job, future))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _cancel_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _answer(self, job: Job, future: Future[Reply]) -> None:
        """Answer one job. Nothing gets past: what escaped a task could end the thread."""
        try:
            reply = await self._asking.answer(job)
            self._count(reply)
            await self._arrivals.hand_on((job, reply))
        except asyncio.CancelledError:
            if self._take(job, future):
                _cancel([future])
        except BaseException as error:
            self._figures.failed += 1
            if self._take(job, future) and future.set_running_or_notify_cancel():
                future.set_exception(error)
        else:
            self._figures.done += 1
            if self._take(job, future, reply) and future.set_running_or_notify_cancel():
                future.set_result(reply)

    def _take_all(self) -> list[Future[Reply]]:
        """Take all that are open, which is then on the caller. Only with the lock."""
        futures = list(self._open.values())
        self._open.clear()
        return futures

    def _take(self, job: Job, future: Future[Reply], reply: Reply | None = None) -> bool:
        """Whether it is on the caller to end this future: on whoever takes it out of the open ones first."""
        with self._lock:
            if reply is not None:
                self._replies[job.digest] = reply
            if self._open.get(job.digest) is not future:
                return False
            del self._open[job.digest]
            return True

    def _count(self, reply: Reply) -> None:
        if usage := reply.usage:
            self._figures.input_tokens += usage.input_tokens or 0
            self._figures.output_tokens += usage.output_tokens or 0


def _cancel(futures: Iterable[Future[Reply]]) -> None:
    for future in futures:
        future.cancel()
        future.set_running_or_notify_cancel()


async def _wait_briefly(tasks: set[asyncio.Task[None]]) -> None:
    if tasks:
        await asyncio.wait(tasks, timeout=SHUTDOWN_SECONDS)


async def _close(backend: Backend) -> None:
    """Close it; by now there is nobody left who could be told that this failed."""
    with contextlib.suppress(Exception):
        await backend.close()

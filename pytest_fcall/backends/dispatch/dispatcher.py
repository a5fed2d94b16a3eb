"""The dispatcher: answers jobs in an event loop of its own, many at a time."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from pytest_fcall.backends.dispatch.group_writer import GroupWriter
from pytest_fcall.backends.dispatch.job import AnsweredJob, Clock, DispatchLimits, DispatchProgress, Job, SystemClock
from pytest_fcall.backends.dispatch.sender import Sender
from pytest_fcall.backends.wrapper import innermost
from pytest_fcall.core.backend import Backend
from pytest_fcall.core.reply import Reply

_T = TypeVar("_T")

SHUTDOWN_SECONDS = 0.4
"""Seconds for each of the two last steps: cancelling the requests, and closing the backends."""
_THREADS = "fcall-dispatch"


class Dispatcher:
    """Accepts jobs from any thread, and answers them in a thread with an event loop, which starts with the first job.

    `on_replies` is called in that thread as soon as replies have arrived, before their futures are done; the futures
    get what it raises. Where it waits for another machine (`remote_replies`), another thread calls it. `on_unpriced` is
    called in the loop for each attempt that the provider may bill although it gave no reply. Backends are used and
    closed only in that event loop.
    """

    def __init__(
        self,
        limits: DispatchLimits,
        on_replies: Callable[[Sequence[AnsweredJob]], object],
        *,
        remote_replies: bool = False,
        on_unpriced: Callable[[Job], object] = lambda _: None,
        clock: Clock | None = None,
        jitter: Callable[[], float] | None = None,
    ) -> None:
        self._writer: GroupWriter[AnsweredJob] = GroupWriter(on_replies, remote=remote_replies)
        self._sender = Sender(limits, clock or SystemClock(), jitter or random.SystemRandom().random, on_unpriced)
        self._progress = DispatchProgress()
        self._lock = threading.Lock()
        self._open: dict[str, Future[Reply]] = {}
        self._replies: dict[str, Reply] = {}
        self._backends: dict[int, Backend] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread: _LoopThread | None = None
        self._closed = False

    def submit(self, job: Job) -> Future[Reply]:
        """Start answering the job. A job with a known digest is not sent again, unless it failed.

        The future raises ModelUnavailable, CaseRefused, Unanswered after the last retry, any other error of the
        backend, or CancelledError.
        """
        with self._lock:
            thread = self._started()
            known = self._open.get(job.digest)
            if known is not None and not known.cancelled():
                return known
            future: Future[Reply] = Future()
            if (reply := self._replies.get(job.digest)) is not None:
                future.set_result(reply)
                return future
            self._open[job.digest] = future
            self._progress.submitted += 1
            thread.loop.call_soon_threadsafe(self._begin, job, future)
            return future

    def forget(self, digest: str) -> None:
        """Forget a reply that is kept elsewhere: another job with its digest would be sent."""
        with self._lock:
            self._replies.pop(digest, None)

    def run(self, work: Coroutine[object, None, _T]) -> Future[_T]:
        """Run other work in the event loop, such as a conversation that submits jobs on its way."""
        with self._lock:
            try:
                thread = self._started()
            except RuntimeError:
                work.close()
                raise
            return asyncio.run_coroutine_threadsafe(work, thread.loop)

    def progress(self) -> DispatchProgress:
        """The numbers at this moment."""
        sender = self._sender
        return replace(
            self._progress,
            in_flight=sender.queues.running,
            retried=sender.retried,
            warning=sender.rate_limits.warning,
        )

    def cancel_all(self) -> None:
        """Cancel all jobs that have no reply yet, and return at once. More may be submitted."""
        with self._lock:
            futures = self._take_all()
            if self._thread is not None and not self._closed:
                self._thread.loop.call_soon_threadsafe(self._cancel_tasks)
        _cancel(futures)

    def close(self) -> None:
        """Cancel all jobs that have no reply yet, close the backends, and end the thread: all within a second."""
        with self._lock:
            futures = self._take_all()
            if self._thread is not None and not self._closed:
                self._thread.loop.call_soon_threadsafe(self._thread.stop.set)
            self._closed = True
        _cancel(futures)
        if self._thread is not None:
            self._thread.join(2.5 * SHUTDOWN_SECONDS)

    def _started(self) -> _LoopThread:
        """The thread with the event loop. Needs the lock."""
        if self._closed:
            raise RuntimeError("the dispatcher is closed")
        if self._thread is None:
            self._thread = _LoopThread(self._shut_down)
            self._thread.start()
        return self._thread

    async def _shut_down(self) -> None:
        self._cancel_tasks()
        await _wait_briefly(self._tasks)
        self._writer.flush()
        await _wait_briefly({asyncio.ensure_future(_close(backend)) for backend in self._backends.values()})
        self._sender.rate_limits.close()

    def _begin(self, job: Job, future: Future[Reply]) -> None:
        self._backends.setdefault(id(innermost(job.backend)), job.backend)
        task = asyncio.get_running_loop().create_task(self._answer(job, future))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _cancel_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _answer(self, job: Job, future: Future[Reply]) -> None:
        """Answer one job. Catches every error: one that escaped from a task could end the thread."""
        try:
            reply = await self._sender.answer(job)
            self._count_tokens(reply)
            await self._writer.write((job, reply))
        except asyncio.CancelledError:
            if self._take(job, future):
                _cancel([future])
        except BaseException as error:  # the thread that waits for the future raises it again
            self._progress.failed += 1
            if self._take(job, future) and future.set_running_or_notify_cancel():
                future.set_exception(error)
        else:
            self._progress.done += 1
            if self._take(job, future, reply) and future.set_running_or_notify_cancel():
                future.set_result(reply)

    def _take_all(self) -> list[Future[Reply]]:
        """Take all open futures, which the caller must end. Needs the lock."""
        futures = list(self._open.values())
        self._open.clear()
        return futures

    def _take(self, job: Job, future: Future[Reply], reply: Reply | None = None) -> bool:
        """Take an open future, which the caller must end; False if another thread has taken it."""
        with self._lock:
            if reply is not None:
                self._replies[job.digest] = reply
            if self._open.get(job.digest) is not future:
                return False
            del self._open[job.digest]
            return True

    def _count_tokens(self, reply: Reply) -> None:
        if usage := reply.usage:
            self._progress.input_tokens += usage.input_tokens or 0
            self._progress.output_tokens += usage.output_tokens or 0


class _LoopThread(threading.Thread):
    """A thread with an event loop, which runs `shut_down` once `stop` is set, and ends."""

    def __init__(self, shut_down: Callable[[], Coroutine[None, None, None]]) -> None:
        super().__init__(name=_THREADS, daemon=True)
        self.loop = asyncio.new_event_loop()
        self.loop.set_default_executor(ThreadPoolExecutor(thread_name_prefix=_THREADS))  # known by their name
        self.stop = asyncio.Event()
        self._shut_down = shut_down

    def run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.run(self._until_stopped())

    async def _until_stopped(self) -> None:
        await self.stop.wait()
        await self._shut_down()


def _cancel(futures: Iterable[Future[Reply]]) -> None:
    for future in futures:
        future.cancel()
        future.set_running_or_notify_cancel()


async def _wait_briefly(tasks: set[asyncio.Task[None]]) -> None:
    if tasks:
        await asyncio.wait(tasks, timeout=SHUTDOWN_SECONDS)


async def _close(backend: Backend) -> None:
    """Close the backend. Errors are dropped, because no caller waits for them any more."""
    with contextlib.suppress(Exception):
        await backend.close()

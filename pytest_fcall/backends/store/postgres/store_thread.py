"""Work for the server that is asked for piece by piece, and done together, in a thread of the store's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, Final, Generic, TypeAlias, TypeVar

_NAME: Final = "fcall-store-work"

Item = TypeVar("Item")
WorkOutcome: TypeAlias = Callable[[], Any]
"""Returns what came of a piece of work, or raises it."""


class StoreThread:
    """The thread in which work for the server waits for it, so that no event loop does. It starts with the first work.

    After a fork, the child has one of its own.
    """

    def __init__(self) -> None:
        self._process = 0
        self._pool: ThreadPoolExecutor | None = None

    def start(self, work: Callable[[], object]) -> None:
        """Do `work` after all that was started before."""
        if self._pool is None or self._process != os.getpid():
            self._process, self._pool = os.getpid(), ThreadPoolExecutor(1, thread_name_prefix=_NAME)
        self._pool.submit(work)

    def close(self) -> None:
        """End the thread, once all is done that was started. The next work starts another one."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown()
        self._pool = None


class GatheredWork(Generic[Item]):
    """Has pieces of one kind of work done together: those that come while the server is being waited for come next.

    Each round trip then carries as many as there are. `do_all` returns an outcome for each of them.
    """

    def __init__(self, thread: StoreThread, do_all: Callable[[Sequence[Item]], Sequence[WorkOutcome]]) -> None:
        self._thread = thread
        self._do_all = do_all
        self._lock = Lock()
        self._process = os.getpid()
        self._waiting: list[tuple[Item, Future[Any]]] = []

    def submit(self, item: Item) -> Future[Any]:
        """Have it done, after those that were submitted before; until it has begun, it may be cancelled."""
        if self._process != os.getpid():  # the parent waits for what is here, and may have held the lock
            self._process, self._lock, self._waiting = os.getpid(), Lock(), []
        future: Future[Any] = Future()
        with self._lock:
            self._waiting.append((item, future))
            if len(self._waiting) == 1:
                self._thread.start(self._do_waiting)
        return future

    def do(self, item: Item) -> Any:
        """Have it done, after those that were submitted before, and wait."""
        return self.submit(item).result()

    def _do_waiting(self) -> None:
        with self._lock:
            taken, self._waiting = self._waiting, []
        begun = [(item, future) for item, future in taken if future.set_running_or_notify_cancel()]
        if not begun:
            return
        try:
            outcomes = self._do_all([item for item, _ in begun])
        except BaseException as error:  # each caller that waits for one of them raises it
            for _, future in begun:
                future.set_exception(error)
            return
        for (_, future), outcome in zip(begun, outcomes, strict=True):
            try:
                future.set_result(outcome())
            except BaseException as error:
                future.set_exception(error)

"""Work spread over processes, its results in order."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")

_AHEAD = 4
"""Pieces of work a process that are under way or waiting: enough to keep it busy, few enough for any memory."""


class WorkerDied(RuntimeError):
    """A process ended before its work was done. The text says so."""


def ordered(work: Callable[[Given], Result], given: Iterable[Given], processes: int) -> Iterator[Result]:
    """Do `work` on everything given; results come in the order of what they are made from."""
    return map(work, given) if processes == 1 else _spread(work, given, processes)


def _spread(work: Callable[[Given], Result], given: Iterable[Given], processes: int) -> Iterator[Result]:
    from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor

    under_way: deque[Future[Result]] = deque()
    pool = ProcessPoolExecutor(processes, initializer=_leave_interrupts_to_the_parent)
    try:
        for piece in given:
            with _interrupts_held_back():
                under_way.append(pool.submit(work, piece))
            if len(under_way) >= processes * _AHEAD:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    except BrokenExecutor:
        raise WorkerDied("a process that judged rows was killed, perhaps for want of memory; try fewer") from None
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Have processes that begin meanwhile never interrupted, not even in their first instant.

    A fork that is interrupted before it knows what it is to do goes on as its parent would.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)

"""Work in several processes, whose results come in the order of what was given."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")

_PIECES_PER_PROCESS: Final = 4
"""Pieces of work in progress or waiting for each process: enough to keep it busy, few enough for the memory."""


class WorkFailed(RuntimeError):
    """A process could not do its work, or ended before it was done. The text says why."""


def map_in_order(work: Callable[[Given], Result], given: Iterable[Given], processes: int) -> Iterator[Result]:
    """The results of `work`, in the order of what is given. Raises WorkFailed."""
    return map(work, given) if processes == 1 else _map_in_processes(work, given, processes)


def _map_in_processes(work: Callable[[Given], Result], given: Iterable[Given], processes: int) -> Iterator[Result]:
    from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor

    pending: deque[Future[Result]] = deque()
    pool = ProcessPoolExecutor(processes, initializer=_ignore_interrupts)
    try:
        for piece in given:
            with _interrupts_blocked():
                pending.append(pool.submit(work, piece))
            if len(pending) >= processes * _PIECES_PER_PROCESS:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except BrokenExecutor:
        raise WorkFailed("a worker process was killed, perhaps by lack of memory; use fewer processes") from None
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block interrupts while processes start.

    A fork that is interrupted before it has its initializer would run on as a copy of the parent.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)

"""The workers that judge rows, several processes or a cluster of Ray. Results come in the order of what was given."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

from pytest_fcall.cli.score.rows import JudgedRow, RowBatch, RowJudge, judge_batch

Given = TypeVar("Given")
Result = TypeVar("Result")

_PIECES_PER_PROCESS: Final = 4
"""Pieces of work in progress or waiting for each process: enough to keep it busy, few enough for the memory."""
_BATCHES: Final = 16
"""Batches that go to a process together: handing over takes a millisecond, judging a batch several."""
_AFTERWARDS: Final = "give the command again when the cluster is there"
_AHEAD: Final = 4
"""Portions in progress or waiting for each CPU."""


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


def judge_on_cluster(
    judge: RowJudge, batches: Iterable[RowBatch], address: str | None
) -> Iterator[Sequence[JudgedRow]]:
    """The judged rows of all batches, in their order, by a cluster of Ray. Raises WorkFailed."""
    from pytest_fcall.cli.ray_library import ClusterError, cluster_of, ray_errors

    try:
        with cluster_of(address, _AFTERWARDS) as ray, ray_errors():
            yield from _judged(ray, ray.put(_with_absolute_paths(judge)), iter(batches))
    except ClusterError as error:
        raise WorkFailed(str(error)) from None


def _with_absolute_paths(judge: RowJudge) -> RowJudge:
    """The judge with the full paths of its data: each process reads them for itself, in a folder of its own."""
    given: Any = judge
    paths = {each.name: getattr(given, each.name) for each in fields(given)} if is_dataclass(given) else {}
    changed = {name: path.absolute() for name, path in paths.items() if isinstance(path, Path)}
    return replace(given, **changed) if changed else judge


def _judged(ray: Any, judge: Any, batches: Iterator[RowBatch]) -> Iterator[Sequence[JudgedRow]]:
    judged, pending = ray.remote(_judge_all), deque[Any]()
    most = max(1, int(ray.cluster_resources().get("CPU", 1))) * _AHEAD
    while portion := [*islice(batches, _BATCHES)]:
        pending.append(judged.remote(judge, portion))
        if len(pending) >= most:
            yield from ray.get(pending.popleft())
    while pending:
        yield from ray.get(pending.popleft())


def _judge_all(judge: RowJudge, batches: Sequence[RowBatch]) -> list[list[JudgedRow]]:
    return [judge_batch(judge, batch) for batch in batches]

"""`fcall score --engine=ray`: a cluster judges, and the verdicts come back in the order of the rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from pytest_fcall.cli.ray_library import ClusterError, cluster_of, ray_errors
from pytest_fcall.cli.score.processes import WorkFailed
from pytest_fcall.cli.score.rows import JudgedRow, RowBatch, RowJudge, judge_batch

_BATCHES: Final = 16
"""Batches that go to a process together: handing over takes a millisecond, judging a batch several."""
_AFTERWARDS: Final = "give the command again when the cluster is there"
_AHEAD: Final = 4
"""Portions in progress or waiting for each CPU."""


def judge_on_cluster(
    judge: RowJudge, batches: Iterable[RowBatch], address: str | None
) -> Iterator[Sequence[JudgedRow]]:
    """The judged rows of all batches, in their order. Raises WorkFailed."""
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

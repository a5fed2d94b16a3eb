"""Answers rows of a plan in one process of a cluster, and writes what comes of them into parts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from threading import Lock
from typing import Any, Final

from pytest_fcall.backends.cluster.assignment import Assignment
from pytest_fcall.backends.cluster.coordinator import CoordinatorClient
from pytest_fcall.backends.cluster.parts import PartRow, part_names, read_part, write_part
from pytest_fcall.backends.cluster.round_log import GROUPS, groups_of
from pytest_fcall.backends.cluster.shared_limits import Gate, SharedLimitsBackend
from pytest_fcall.backends.costs.budget import MeteredBackend
from pytest_fcall.backends.dispatch.dispatcher import Dispatcher
from pytest_fcall.backends.dispatch.job import Job, Limits
from pytest_fcall.backends.recordings.entry import reply_to_data
from pytest_fcall.core import Backend, Json, ModelUnavailable, Reply
from pytest_fcall.core.json_data import DamagedData
from pytest_fcall.core.secrets import Secrets
from pytest_fcall.core.storage import Folder, StorageError

MARK: Final = "fcall-plan"
"""The file by which a process knows that it sees the folder of the one who records."""
_WRITE_SECONDS: Final = 5.0
"""Replies are written at the latest after so many seconds."""

Rows = Mapping[str, Mapping[str, Json]]


class UnfitNode(Exception):
    """This machine cannot answer. The text says why, and what to do."""


class Answerer:
    """Answers the rows of a table: Ray calls it, from a few threads at a time."""

    def __init__(self, assignment: Any, coordinator: Any) -> None:
        """Takes a reference to the Assignment, and the actor. Raises UnfitNode."""
        import ray

        self._assignment: Assignment = ray.get(assignment[0])
        prepare_node(self._assignment)
        self._folder = Folder(self._assignment.checkpoint)
        self._coordinator = CoordinatorClient(coordinator)
        self._secrets = Secrets(self._assignment.secrets)
        limits = Limits(concurrency=self._assignment.concurrency)
        self._dispatcher = Dispatcher(limits, lambda _: None)
        self._backends: dict[str, Backend] = {}
        self._lock = Lock()
        self._suspects = Lock()
        """Held while rows are asked again that were under way when a process died: one group at a time."""

    def __call__(self, portions: Any) -> Any:
        """Answer the rows of portions of plans, and give the portions back."""
        for portion in portions.to_pylist():
            self._answer({row["digest"]: row for row in read_portion(self._folder, portion)})
        return portions

    def _answer(self, rows: Rows) -> None:
        deaths = self._coordinator.deaths(rows)
        if any(deaths.values()):
            self._note_parts_of_the_dead()
            deaths = self._coordinator.deaths(rows)
        fresh = [digest for digest, number in deaths.items() if not number]
        if fresh:
            self._ask(fresh, rows)
        groups, lost = groups_of({digest: number for digest, number in deaths.items() if number})
        for group in groups:
            with self._suspects:
                self._ask(group, rows)
        if lost:
            why = f"what asked it died {len(GROUPS)} times, the last {GROUPS.count(1)} times with it alone"
            self._write([PartRow(digest, error=why) for digest in lost])

    def _ask(self, digests: Sequence[str], rows: Rows) -> None:
        """Ask these rows at the same time, and write what comes."""
        self._coordinator.begin(digests)
        pending: dict[Future[Reply], str] = {}
        failed: list[PartRow] = []
        for digest in digests:
            try:
                pending[self._submitted(rows[digest])] = digest
            except (ModelUnavailable, DamagedData, TypeError, ValueError) as error:
                failed.append(self._error(digest, error))
        self._write(failed)
        while pending:
            done = wait(pending, timeout=_WRITE_SECONDS).done
            self._write([self._part_row(pending.pop(future), future) for future in done])

    def _submitted(self, row: Mapping[str, Json]) -> Future[Reply]:
        model, digest = str(row["model"]), str(row["digest"])
        with self._lock:
            if model not in self._backends:
                self._backends[model] = self._backend(model)
        request = self._assignment.request(row)
        return self._dispatcher.submit(Job(model, self._backends[model], request, digest))

    def _backend(self, model: str) -> Backend:
        asked, backend = self._assignment.models[model], self._assignment.backend(model)
        if asked.metered:
            backend = MeteredBackend(backend, model, asked.price, self._coordinator)
        gate = Gate(model, self._coordinator, counts_tokens=self._assignment.counts_tokens)
        return SharedLimitsBackend(backend, gate)

    def _part_row(self, digest: str, future: Future[Reply]) -> PartRow:
        try:
            reply = future.result()
            return PartRow.of_reply(digest, self._secrets.redacted_fields(reply_to_data(reply)))
        except BaseException as error:  # whatever a backend raises, the rows beside it go on
            return self._error(digest, error)

    def _error(self, digest: str, error: BaseException) -> PartRow:
        text = " ".join(str(error).split()) or type(error).__name__
        return PartRow(digest, error=self._secrets.redacted(text[:1000]))

    def _write(self, rows: Iterable[PartRow]) -> None:
        if found := [*rows]:
            self._coordinator.add_part(write_part(self._folder, found), [row.digest for row in found])

    def _note_parts_of_the_dead(self) -> None:
        """Note the parts that a process has written and died before it could say so."""
        known = {*self._coordinator.parts_after(0)}
        for name in part_names(self._folder):
            if name not in known:
                answered = [row.digest for row in read_part(self._folder, name) if row.reply is not None]
                self._coordinator.add_part(name, answered)


def read_portion(folder: Folder, portion: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a portion of a plan."""
    from pyarrow import parquet

    with folder.open(portion["plan"]) as file, parquet.ParquetFile(file) as plan:
        table = plan.read_row_group(portion["group"])
        rows: list[dict[str, Any]] = table.slice(portion["first"], portion["rows"]).to_pylist()
        return rows


def prepare_node(assignment: Assignment) -> None:
    """Set the variables that are handed on. Raises UnfitNode where the version is another one, or no replies are seen.

    The folder of the replies is looked for last, as the keys to it may be among the variables.
    """
    import platform

    os.environ.update(assignment.variables)
    if (here := package_version()) != assignment.version:
        raise UnfitNode(
            f"node {platform.node()} has pytest-fcall {here}, and the plan is of {assignment.version}: install the same"
        )
    folder, why = Folder(assignment.checkpoint), ""
    try:
        is_seen = folder.has(MARK)
    except StorageError as error:
        is_seen, why = False, f" ({error.strerror})"
    if not is_seen:
        raise UnfitNode(
            f"node {platform.node()} does not see {folder.title}{why}: name a folder that all nodes share, such as "
            "--checkpoint=s3://bucket/folder, and hand on what opens it, such as --env=AWS_ACCESS_KEY_ID"
        )


def package_version() -> str:
    """The version of this package; empty where it runs without being installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("pytest-fcall")
    except PackageNotFoundError:
        return ""

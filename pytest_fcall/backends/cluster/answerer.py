"""Answers rows of a plan in one process of a cluster, as it is assigned, and writes what comes of them into parts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

from pytest_fcall.backends.budget import MeteredBackend
from pytest_fcall.backends.cluster.coordinator import (
    GROUPS,
    CoordinatorClient,
    SharedLimitsBackend,
    WaitingRequests,
    groups_of,
)
from pytest_fcall.backends.dispatch.dispatcher import Dispatcher
from pytest_fcall.backends.dispatch.job import DispatchLimits, Job
from pytest_fcall.backends.recordings.entry import reply_to_data
from pytest_fcall.backends.recordings.line import tool_of
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core.backend import Backend, Model, ModelUnavailable
from pytest_fcall.core.json_data import DamagedData, as_mapping, read_json, required_field
from pytest_fcall.core.parquet import SUFFIX, ParquetError
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.secrets import Secrets
from pytest_fcall.core.storage import Folder, StorageError
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.backends.costs import Price
    from pytest_fcall.core.extension import BackendFactory


MARK: Final = "fcall-plan"
"""The file by which a process knows that it sees the folder of the one who records."""
_WRITE_SECONDS: Final = 5.0
"""Replies are written at the latest after so many seconds."""

Rows = Mapping[str, Mapping[str, Json]]


class UnfitNode(Exception):
    """This machine cannot answer. The text says why, and what to do."""


class RowAnswerer:
    """Answers the rows of a table: Ray calls it, from a few threads at a time."""

    def __init__(self, assignment: Any, coordinator: Any) -> None:
        """Takes a reference to the Assignment, and the actor. Raises UnfitNode."""
        import ray

        self._assignment: Assignment = ray.get(assignment[0])
        prepare_node(self._assignment)
        self._folder = Folder(self._assignment.checkpoint)
        self._coordinator = CoordinatorClient(coordinator)
        self._secrets = Secrets(self._assignment.secrets)
        limits = DispatchLimits(concurrency=self._assignment.concurrency)
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
        gate = WaitingRequests(model, self._coordinator, counts_tokens=self._assignment.counts_tokens)
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


_BEGIN: Final = "part-"
_COLUMNS: Final = ("digest", "reply", "error")


class PartRow(NamedTuple):
    """The result of a request: a reply as JSON text, or an error."""

    digest: str
    reply: str | None = None
    error: str | None = None

    @classmethod
    def of_reply(cls, digest: str, reply: Mapping[str, Json]) -> PartRow:
        """The row of a reply."""
        return cls(digest, json.dumps(reply))


def part_names(folder: Folder) -> list[str]:
    """The names of the parts in a folder."""
    return [name for name in folder.names() if name.startswith(_BEGIN) and name.endswith(SUFFIX)]


def write_part(folder: Folder, rows: Iterable[PartRow]) -> str:
    """Write a part, and return its name. Raises OSError."""
    import pyarrow as pa
    from pyarrow import parquet

    name = f"{_BEGIN}{uuid4().hex}{SUFFIX}"
    columns = zip(*rows, strict=True)
    table = pa.table({title: pa.array(values, pa.string()) for title, values in zip(_COLUMNS, columns, strict=True)})
    written = pa.BufferOutputStream()
    parquet.write_table(table, written)
    folder.write(name, written.getvalue().to_pybytes())
    return name


def read_part(folder: Folder, name: str) -> Iterator[PartRow]:
    """The rows of a part. Raises ParquetError, and OSError."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with folder.open(name) as file, parquet.ParquetFile(file) as part:
            for batch in part.iter_batches(columns=[*_COLUMNS]):
                yield from (PartRow(**row) for row in batch.to_pylist())
    except (pa.ArrowException, TypeError) as error:
        raise ParquetError(f"{name}: it is no part of an answer: {str(error).splitlines()[0]:.200}") from None


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model, and what makes its backend."""

    model: Model
    make: BackendFactory
    metered: bool = False
    """Whether its requests are paid from the budget of the run."""
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """The order to each process of the cluster. It travels from memory to memory, and is never written to a file."""

    root: Path | None
    """The folder of the project; None where the process's own folder is a copy of it."""
    checkpoint: str
    models: Mapping[str, AskedModel]
    concurrency: int
    """Requests that one process may have in flight."""
    counts_tokens: bool
    version: str
    """The version of this package where the plan was made."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of the environment that are handed on."""
    whole: Mapping[str, Request] = field(default_factory=dict, repr=False)
    """Requests of which a row of a plan does not say everything, by digest."""

    def backend(self, model: str) -> Backend:
        """Make the backend of a model. Raises ModelUnavailable."""
        asked = self.models[model]
        return asked.make(asked.model, self.root or Path.cwd())

    def request(self, row: Mapping[str, Json]) -> Request:
        """The request in a row of a plan in columns. Raises DamagedData."""
        digest = required_field(row, "digest", str)
        return self.whole.get(digest) or request_of_columns(row)


def is_complete_row(request: Request) -> bool:
    """Whether a row of a plan says everything about a request."""
    plain = request.wording is None and request.now is None and not request.proposed
    return plain and dict(without_secrets(request.settings)) == dict(request.settings)


def request_of_columns(row: Mapping[str, Json]) -> Request:
    """The request in a row of a plan, whose columns hold JSON as text. Raises DamagedData."""

    def value(name: str) -> Json:
        return read_json(required_field(row, name, str))

    messages, tools = value("messages"), value("tools")
    if not isinstance(messages, list) or not isinstance(tools, list):
        raise TypeError("`messages` and `tools` must be lists")
    return Request(
        tuple(as_mapping(each, "a message") for each in messages),
        tuple(tool_of(as_mapping(each, "a tool")) for each in tools),
        as_mapping(value("settings"), "`settings`"),
        required_field(row, "sample", int),
    )


def without_origins(request: Request) -> Request:
    """The request without what only the machine of the case can use of its tools."""
    return replace(request, tools=tuple(replace(tool, origin=None) for tool in request.tools))

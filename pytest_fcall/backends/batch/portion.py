"""Portions of the open requests, a batch each: divided, and how far each is, in files that outlive the process."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from secrets import token_hex
from typing import IO, Final, Literal, NamedTuple, TypeAlias, TypeVar, get_args
from urllib.parse import urlsplit

from pytest_fcall.backends.batch.service import LIMITS, BatchLimits, BatchService, Frame
from pytest_fcall.backends.batch_server import BatchInterface, BatchServer
from pytest_fcall.backends.processes.locks import hold_lock
from pytest_fcall.backends.redaction import sounds_secret
from pytest_fcall.backends.request_json import json_default
from pytest_fcall.core.backend import OfflineBody
from pytest_fcall.core.digests import digest
from pytest_fcall.core.files import (
    PRIVATE_FOLDER,
    PRIVATE_MODE,
    make_private_folder,
    open_private,
    read_regular,
    replace_file,
)
from pytest_fcall.core.json_data import (
    DamagedData,
    as_mapping,
    check_version,
    optional_field,
    optional_list_of_strings,
    optional_number,
    read_own_json,
    required_field,
)
from pytest_fcall.core.values import Json

Stage: TypeAlias = Literal["planned", "uploading", "uploaded", "submitting", "submitted", "ended", "taken"]
"""`uploading` and `submitting` are written before the server is asked: who finds them first asks what it has done."""

Word = TypeVar("Word", bound=str)

_STAGES: Final[tuple[Stage, ...]] = get_args(Stage)
_INTERFACES: Final[tuple[BatchInterface, ...]] = get_args(BatchInterface)
_VERSION: Final = 1
_STATE: Final = ".json"
_REQUESTS: Final = ".requests"
_RESULTS: Final = ".results.jsonl"


class Selection(NamedTuple):
    """The arguments of a command, which select cases and models."""

    digest: str
    arguments: tuple[str, ...] | None
    """None where they hold a secret."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Requests to one model by one endpoint, as many as one batch takes."""

    name: str
    """Its name at the server, too, where batches and files have names."""
    model: str
    interface: BatchInterface
    server: str
    """A digest of the server's address, which may be secret."""
    host: str
    path: str
    """The path of the endpoint."""
    digests: tuple[str, ...]
    """The keys of the requests, in the order of the file."""
    bytes: int
    """The length of the file."""
    most: float | None = None
    """The dollars that it costs at most; None where that is not known."""
    selection: str = ""
    """A digest of the arguments of the command that made it."""
    arguments: tuple[str, ...] | None = None
    """These arguments; None where they hold a secret."""
    round_number: int = 0
    """The round of the requests; 0 where it is not known."""
    stage: Stage = "planned"
    since: float = 0.0
    """The time at which it was submitted first, in seconds since 1970."""
    mark: str = ""
    """The newest batch of the server before, where batches have no names."""
    file_id: str = ""
    batch: str = ""
    """The id of the batch."""
    is_proven: bool = False
    """Whether the batch is known to be ours, and no other one of the same length."""
    not_ours: tuple[str, ...] = ()
    """Batches of the same length whose results are of other requests."""
    outcome: str = ""
    faults: Mapping[str, str] = field(default_factory=dict)
    """The errors that the server found in the file, by the number of the request; `-1` for the whole."""
    answered: int = 0
    unasked: int = 0
    """Answers that nobody wants any more. The file with them is kept."""

    @property
    def is_under_way(self) -> bool:
        """Whether its requests wait for answers."""
        return self.stage != "taken"


class PortionFolder:
    """The folder `.fcall/batches` of a project."""

    def __init__(self, root: Path) -> None:
        self.path = root / PRIVATE_FOLDER / "batches"

    @contextmanager
    def alone(self, timeout: float = 0.0) -> Iterator[None]:
        """Be the only process that works here. Raises OSError, and OperationalError where another one does."""
        make_private_folder(self.path)
        with hold_lock(self.path / "lock", timeout):
            yield

    def portions(self) -> tuple[Sequence[Portion], Sequence[str]]:
        """All portions, the oldest first, and what is wrong with files that cannot be read."""
        found, faults = [], []
        for path in sorted(self.path.glob(f"*{_STATE}")):
            try:
                found.append(_portion(path.name.removesuffix(_STATE), read_own_json(read_regular(path))))
            except (OSError, ValueError) as error:
                faults.append(f"{path}: {error.strerror if isinstance(error, OSError) else error}")
        return found, faults

    def save(self, portion: Portion) -> Portion:
        """Write the state of a portion."""
        data = {"version": _VERSION, **{each.name: getattr(portion, each.name) for each in fields(portion)}}
        replace_file(self.state_file(portion.name), [json.dumps(data, indent=1).encode()], PRIVATE_MODE)
        return portion

    def state_file(self, name: str) -> Path:
        """The file that says how far a portion is."""
        return self.path / f"{name}{_STATE}"

    def requests_file(self, name: str) -> Path:
        """The file that is sent."""
        return self.path / f"{name}{_REQUESTS}"

    def results_file(self, name: str) -> Path:
        """The results as they came."""
        return self.path / f"{name}{_RESULTS}"

    def forget(self, portion: Portion) -> None:
        """Remove a portion of which no server has anything that counts."""
        self.state_file(portion.name).unlink(missing_ok=True)
        self.requests_file(portion.name).unlink(missing_ok=True)

    def finish(self, portion: Portion, answered: int, unasked: int) -> Portion:
        """Note that the answers of a portion are taken, and remove its files."""
        taken = replace(portion, stage="taken", answered=answered, unasked=unasked, digests=(), faults={})
        self.save(taken)
        self.remove_remains([taken])
        return taken

    def remove_remains(self, portions: Sequence[Portion]) -> None:
        """Remove what nobody needs of portions whose answers are taken."""
        for portion in portions:
            if not portion.is_under_way:
                self.requests_file(portion.name).unlink(missing_ok=True)
                if not portion.unasked:
                    self.results_file(portion.name).unlink(missing_ok=True)

    def remove_strays(self, portions: Sequence[Portion]) -> None:
        """Remove files of processes that were killed while they wrote, or before they noted what they had written."""
        noted = {self.requests_file(portion.name) for portion in portions}
        for path in [*self.path.glob(".*"), *(each for each in self.path.glob(f"*{_REQUESTS}") if each not in noted)]:
            path.unlink(missing_ok=True)


def _portion(name: str, data: Json) -> Portion:
    """The portion in a file. Raises DamagedData."""
    fields_ = as_mapping(data, "the file")
    check_version(fields_, "version", _VERSION)
    if required_field(fields_, "name", str) != name:
        raise DamagedData(f"it is the file of {fields_['name']!r:.60}, and was renamed")
    arguments = fields_.get("arguments")
    faults = optional_field(fields_, "faults", dict) or {}
    return Portion(
        name=name,
        model=required_field(fields_, "model", str),
        interface=_known(fields_, "interface", _INTERFACES),
        server=required_field(fields_, "server", str),
        host=required_field(fields_, "host", str),
        path=required_field(fields_, "path", str),
        digests=tuple(optional_list_of_strings(fields_, "digests")),
        bytes=required_field(fields_, "bytes", int),
        most=optional_number(fields_, "most"),
        selection=optional_field(fields_, "selection", str) or "",
        arguments=None if arguments is None else tuple(optional_list_of_strings(fields_, "arguments")),
        round_number=optional_field(fields_, "round_number", int) or 0,
        stage=_known(fields_, "stage", _STAGES),
        since=optional_number(fields_, "since") or 0.0,
        mark=_id(fields_, "mark"),
        file_id=_id(fields_, "file_id"),
        batch=_id(fields_, "batch"),
        is_proven=fields_.get("is_proven") is True,
        not_ours=tuple(optional_list_of_strings(fields_, "not_ours")),
        outcome=optional_field(fields_, "outcome", str) or "",
        faults={key: str(text) for key, text in faults.items()},
        answered=optional_field(fields_, "answered", int) or 0,
        unasked=optional_field(fields_, "unasked", int) or 0,
    )


def _id(data: Mapping[str, Json], key: str) -> str:
    """An id of the server, which goes into addresses. Raises DamagedData."""
    found = optional_field(data, key, str) or ""
    if not re.fullmatch(r"(\w+/)?(\w[\w.~-]*)?", found, re.ASCII):
        raise DamagedData(f"`{key}` is no id: {found!r:.60}")
    return found


def _known(data: Mapping[str, Json], key: str, words: tuple[Word, ...]) -> Word:
    """The field, which is one of these words. Raises DamagedData."""
    found = required_field(data, key, str)
    for word in words:
        if word == found:
            return word
    raise DamagedData(f"`{key}` is not one of {', '.join(words)}")


class BatchRequest(NamedTuple):
    """A request that is to be submitted."""

    digest: str
    model: str
    server: BatchServer
    offline: OfflineBody
    most: float | None
    """The dollars that it costs at most."""


class TooLarge(Exception):
    """A request that is larger than a whole batch. The text says so."""


def server_digest(server: BatchServer) -> str:
    """The key of a server and what is sent to it beside the requests, but for keys, which may be replaced meanwhile."""
    sent = [item for item in (*server.query.items(), *server.headers.items()) if not sounds_secret(item[0])]
    return digest([server.interface, server.url, sorted(sent)])[:16]


class Division:
    """Writes portions as requests come."""

    def __init__(
        self,
        folder: PortionFolder,
        selection: Selection,
        limits: Mapping[BatchInterface, BatchLimits] = LIMITS,
        clock: Callable[[], float] = time.time,
        round_number: int = 0,
    ) -> None:
        self._round_number = round_number
        self._folder = folder
        self._selection = selection
        self._limits = limits
        self._clock = clock
        self._begun: dict[tuple[str, str, str], _Draft] = {}
        self.portions: list[Portion] = []

    def add(self, request: BatchRequest, service: BatchService) -> None:
        """Add a request to the portion of its kind. Raises TooLarge, and OSError."""
        limits = self._limits[request.server.interface]
        line = _line(service, request)
        frame = service.frame
        alone = len(frame.before) + len(line) + len(frame.after)
        if alone > limits.bytes:
            raise TooLarge(f"the request has {alone:,} bytes, and a batch takes {limits.bytes:,}")
        key = (server_digest(request.server), request.offline.path, request.model)
        draft = self._begun.get(key)
        if draft is not None and (
            len(draft.digests) == limits.requests or draft.length + len(frame.between) + len(line) > limits.bytes
        ):
            self._end(key)
            draft = None
        if draft is None:
            draft = self._begun[key] = self._draft(request, frame)
        draft.add(request, line)

    def end(self) -> None:
        """Note all portions that were begun."""
        for key in [*self._begun]:
            self._end(key)

    def _draft(self, request: BatchRequest, frame: Frame) -> _Draft:
        name = f"fcall-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(self._clock()))}-{token_hex(4)}"
        return _Draft(name, request, frame, self._folder.requests_file(name))

    def _end(self, key: tuple[str, str, str]) -> None:
        """Note a portion, whose file is whole."""
        draft = self._begun.pop(key)
        draft.close()
        server = draft.first.server
        self.portions.append(
            self._folder.save(
                Portion(
                    name=draft.name,
                    model=draft.first.model,
                    interface=server.interface,
                    server=key[0],
                    host=urlsplit(server.url).hostname or "",
                    path=draft.first.offline.path,
                    digests=tuple(draft.digests),
                    bytes=draft.length,
                    most=draft.most,
                    selection=self._selection.digest,
                    arguments=self._selection.arguments,
                    round_number=self._round_number,
                    faults={},
                )
            )
        )


@dataclass(slots=True)
class _Draft:
    """A portion whose file is being written."""

    name: str
    first: BatchRequest
    frame: Frame
    path: Path
    digests: list[str] = field(default_factory=list)
    most: float | None = 0.0
    length: int = 0
    _file: IO[bytes] | None = None

    def add(self, request: BatchRequest, line: bytes) -> None:
        """Write a request. The length counts what comes behind the last one already."""
        if self._file is None:
            self._file = open_private(self.path)
            self.length = self._file.write(self.frame.before) + len(self.frame.after)
        elif self.digests:
            self.length += self._file.write(self.frame.between)
        self.length += self._file.write(line)
        self.digests.append(request.digest)
        self.most = None if self.most is None or request.most is None else self.most + request.most

    def close(self) -> None:
        """Write the end."""
        if self._file is not None:
            self._file.write(self.frame.after)
            self._file.close()


def _line(service: BatchService, request: BatchRequest) -> bytes:
    return json.dumps(service.line(request.digest, request.offline), default=json_default).encode()

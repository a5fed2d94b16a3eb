"""Open requests, divided into portions: one model, one server and one endpoint each, as many as a batch takes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import IO, NamedTuple
from urllib.parse import urlsplit

from pytest_fcall.backends.batch.limits import LIMITS, BatchLimits
from pytest_fcall.backends.batch.portion import Portion, PortionFolder, Selection
from pytest_fcall.backends.batch.service import BatchService, Frame
from pytest_fcall.backends.batch_server import BatchInterface, BatchServer
from pytest_fcall.backends.redaction import sounds_secret
from pytest_fcall.core import Json, digest
from pytest_fcall.core.backend import OfflineBody
from pytest_fcall.core.files import open_private


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
    return json.dumps(service.line(request.digest, request.offline), default=_plain).encode()


def _plain(value: object) -> Json:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__} is not JSON")

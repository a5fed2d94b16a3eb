"""The client's side: finds the shared process of a specification or starts it, and reads the end of its log."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import compare_digest
from string import whitespace
from typing import IO, cast

from pytest_fcall.backends.processes.locks import hold_lock
from pytest_fcall.backends.processes.protocol import TOKEN_LENGTH, AccessTokens, new_tokens, tokens_from_data
from pytest_fcall.core.backend import ModelUnavailable
from pytest_fcall.core.digests import digest
from pytest_fcall.core.json_data import as_mapping, required_field
from pytest_fcall.core.values import Json

_START_SECONDS = 60.0
"""Seconds for a process to open its port, before it loads anything large."""
_LINES = 5
_SHOWN = 500
_EMPTY = f"{whitespace}~^"
"""A line of these alone says nothing: Python marks a place in the line above by some of them."""
_READ = 65_536
"""A log may be of any size: so many bytes at its end are read."""


def users_folder() -> Path:
    """The folder of this user's processes on this machine."""
    user = "" if sys.platform == "win32" else f"-{os.getuid()}"
    return Path(tempfile.gettempdir(), f"pytest-fcall{user}")


@dataclass(frozen=True, slots=True)
class Launcher:
    """Finds or starts the process of one specification. Its files are in a folder that only this user can open.

    The process runs `module`, which reads a LaunchOrder from stdin and opens a port by `ClientConnections`.
    """

    module: str
    spec: Mapping[str, Json]
    folder: Path

    @property
    def log(self) -> Path:
        """The output of the process and its libraries."""
        return self._process_folder / "log"

    def connect(self) -> socket.socket:
        """Return a connection to the process, which is started if there is none. Blocks for a moment.

        Raises ModelUnavailable if the process does not start.
        """
        folder = self._process_folder
        try:
            _make_private(self.folder)
            folder.mkdir(exist_ok=True)
            with hold_lock(folder / "lock", _START_SECONDS):
                return self._connect_to_running() or self._start()
        except (OSError, sqlite3.Error) as error:
            raise ModelUnavailable(f"the process for the model cannot be started from {folder}: {error}") from None

    @property
    def log_size(self) -> int:
        """The bytes of the log so far."""
        with suppress(OSError):
            return self.log.stat().st_size
        return 0

    def end_of_log(self, *, since: int = 0, cause_known: bool = False) -> str:
        """The last lines of the log in one, of what was written `since` so many bytes.

        If there is none, a possible cause, unless the cause is known.
        """
        with suppress(OSError):
            with self.log.open("rb") as log:
                log.seek(max(since, self.log_size - _READ))
                lines = log.read(_READ).decode("utf-8", "replace").split("\n")
            if last := [" ".join(line.split()) for line in lines if line.strip(_EMPTY)][-_LINES:]:
                return f"end of its log: {' / '.join(last)[-_SHOWN:]} (more in {self.log})"
        return "its log is empty" if cause_known else "its log is empty; it may have run out of memory"

    @property
    def _process_folder(self) -> Path:
        """Another Python environment has another folder: its processes load other libraries."""
        return self.folder / digest({"module": self.module, "spec": self.spec, "python": sys.executable})[:24]

    def _connect_to_running(self) -> socket.socket | None:
        with suppress(OSError, ValueError, RecursionError):
            address = as_mapping(json.loads((self._process_folder / "address").read_bytes()), "the address")
            return _connect(required_field(address, "port", int), tokens_from_data(address.get("tokens")))
        return None

    def _start(self) -> socket.socket:
        tokens = new_tokens()
        port = self._launch(tokens)
        connection = _connect(port, tokens) if port else None
        if connection is None:
            raise ModelUnavailable(f"the process for the model did not start; {self.end_of_log()}")
        address = json.dumps({"port": port, "tokens": tokens.to_data()})
        (self._process_folder / "address").write_text(address, "ascii")
        return connection

    def _launch(self, tokens: AccessTokens) -> int | None:
        """Start the process, and return its port once it is open."""
        with self.log.open("ab") as log:  # appending, because an earlier process may still write
            log.truncate(0)
            process = subprocess.Popen(  # noqa: S603  # a module of ours
                [sys.executable, "-P", "-m", self.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # Ctrl+C in a terminal is meant for the clients
            )
        threading.Thread(target=process.wait, name="fcall-shared", daemon=True).start()
        order: dict[str, Json] = {
            "spec": self.spec,
            "tokens": tokens.to_data(),
            "folder": str(self._process_folder),
        }
        # Both are there, since they are pipes.
        with cast("IO[bytes]", process.stdin) as stdin, cast("IO[bytes]", process.stdout) as stdout:
            with suppress(BrokenPipeError):
                stdin.write(json.dumps(order).encode())
                stdin.close()
            port = stdout.readline().strip()
        return int(port) if port.isdigit() else None


def _connect(port: int, tokens: AccessTokens) -> socket.socket | None:
    """Return a connection if the process with these tokens listens at this port."""
    try:
        connection = socket.create_connection(("127.0.0.1", port), _START_SECONDS)
    except (OSError, OverflowError):
        return None
    try:
        connection.sendall(tokens.client.encode())
        if compare_digest(_receive(connection, TOKEN_LENGTH), tokens.server.encode()):
            return connection
    except OSError:
        pass
    connection.close()
    return None


def _receive(connection: socket.socket, size: int) -> bytes:
    """Receive `size` bytes, or fewer if the connection ends."""
    received = b""
    while len(received) < size and (more := connection.recv(size - len(received))):
        received += more
    return received


def _make_private(folder: Path) -> None:
    """Create the folder. Raises ModelUnavailable if other users could read or write in it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform != "win32":
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
            raise ModelUnavailable(f"{folder} must be a folder that only you can open; remove it and run again")

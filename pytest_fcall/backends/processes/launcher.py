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
from typing import IO, cast

from pytest_fcall.backends.processes.locks import locked
from pytest_fcall.backends.processes.protocol import TOKEN_LENGTH, AccessTokens, new_tokens, tokens_from_data
from pytest_fcall.core import Json, ModelUnavailable, digest
from pytest_fcall.core.json_fields import as_mapping, required_field

_LINES = 5
_SHOWN = 500


_SILENT = "it said nothing, as if it had been killed; is there enough memory?"


def log_tail(log: Path, silent: str = _SILENT) -> str:
    """The last lines, in one; `silent` where there are none."""
    with suppress(OSError):
        lines = log.read_text("utf-8", "replace").split("\n")
        if told := [" ".join(line.split()) for line in lines if line.strip()][-_LINES:]:
            return f"its last words: {' / '.join(told)[-_SHOWN:]} (more in {log})"
    return silent


_START_SECONDS = 60.0
"""Seconds for a process to open its port, before anything large is loaded."""


@dataclass(frozen=True, slots=True)
class Launcher:
    """Leads to the process of one order. Its files lie in a folder that is this user's alone.

    The process runs `module`, which is told the order on stdin and opens a port, as `Visits` does.
    """

    module: str
    order: Mapping[str, Json]
    folder: Path

    @property
    def log(self) -> Path:
        """What the process and its libraries have said."""
        return self._place / "log"

    def connect(self) -> socket.socket:
        """Return a connection to the process, which is started where there is none. Blocks for a moment.

        Raises ModelUnavailable where it does not start.
        """
        try:
            _make_private(self.folder)
            self._place.mkdir(exist_ok=True)
            with locked(self._place / "lock", _START_SECONDS):
                return self._visit() or self._start()
        except (OSError, sqlite3.Error) as error:
            raise ModelUnavailable(f"the process for the model cannot be started from {self._place}: {error}") from None

    def tail(self) -> str:
        """The last lines of the log, in one; without any, what may have ended the process."""
        return log_tail(self.log)

    def last_words(self) -> str:
        """The same of a process of which it is known how it has ended."""
        return log_tail(self.log, "it said nothing")

    @property
    def _place(self) -> Path:
        """Processes of another environment load other libraries, and are not shared."""
        return self.folder / digest({"module": self.module, "order": self.order, "python": sys.executable})[:24]

    def _visit(self) -> socket.socket | None:
        """Knock where the last process was seen."""
        with suppress(OSError, ValueError, RecursionError):
            seen = as_mapping(json.loads((self._place / "address").read_bytes()), "the address")
            return _connect(required_field(seen, "port", int), tokens_from_data(seen.get("tokens")))
        return None

    def _start(self) -> socket.socket:
        tokens = new_tokens()
        port = self._launch(tokens)
        connection = _connect(port, tokens) if port else None
        if connection is None:
            raise ModelUnavailable(f"the process for the model did not start; {self.tail()}")
        (self._place / "address").write_text(json.dumps({"port": port, "tokens": tokens.to_data()}), "ascii")
        return connection

    def _launch(self, tokens: AccessTokens) -> int | None:
        """Start the process, and return its port once it is open."""
        with self.log.open("ab") as log:  # the process before may have something to say yet
            log.truncate(0)
            process = subprocess.Popen(  # noqa: S603  # a module of ours
                [sys.executable, "-P", "-m", self.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # what is typed at a terminal is for those who use it
            )
        threading.Thread(target=process.wait, name="fcall-shared", daemon=True).start()
        told = json.dumps({"order": self.order, "tokens": tokens.to_data(), "place": str(self._place)}).encode()
        with cast("IO[bytes]", process.stdin) as stdin, cast("IO[bytes]", process.stdout) as stdout:
            with suppress(BrokenPipeError):
                stdin.write(told)
                stdin.close()
            port = stdout.readline().strip()
        return int(port) if port.isdigit() else None


def users_folder() -> Path:
    """Where this user's processes are found on this machine."""
    user = "" if sys.platform == "win32" else f"-{os.getuid()}"
    return Path(tempfile.gettempdir(), f"pytest-fcall{user}")


def _connect(port: int, tokens: AccessTokens) -> socket.socket | None:
    """Return a connection, if the process that has these tokens listens there."""
    try:
        connection = socket.create_connection(("127.0.0.1", port), _START_SECONDS)
    except (OSError, OverflowError):
        return None
    try:
        connection.sendall(tokens.knock.encode())
        if compare_digest(_receive(connection, TOKEN_LENGTH), tokens.welcome.encode()):
            return connection
    except OSError:
        pass
    connection.close()
    return None


def _receive(connection: socket.socket, size: int) -> bytes:
    """As many bytes, or fewer where no more come."""
    received = b""
    while len(received) < size and (more := connection.recv(size - len(received))):
        received += more
    return received


def _make_private(folder: Path) -> None:
    """Make the folder. Raises ModelUnavailable where others could read or write what is in it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform != "win32":
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise ModelUnavailable(f"{folder} must be a folder that only you can open; remove it and run again")

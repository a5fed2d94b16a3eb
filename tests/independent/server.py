"""A process of the server."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.request import urlopen

ENVIRONMENT = Path(__file__).parents[2] / ".venv-servers"
"""Of the server, which `make test-servers` makes."""
READY = ENVIRONMENT / ".ready"
MODEL = "smollm2"

_PATIENCE = 180
"""Seconds that loading may take on a busy machine."""


class NotServing(Exception):
    """The server did not start; says why, by the end of its log."""


class ModelServer:
    """`transformers serve` on loopback, as long as the `with` block lasts."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._port = _free_port()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        command = [str(ENVIRONMENT / "bin" / "transformers"), "serve", MODEL, "--device=cpu", "--dtype=float32"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, "--host=127.0.0.1", f"--port={self._port}"],
                cwd=ENVIRONMENT / "models",
                # More threads than free cores make it many times slower.
                env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process, if need be by force."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def log(self) -> str:
        """The end of what it has said."""
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-30:])

    def _wait(self) -> None:
        end = time.monotonic() + _PATIENCE
        while not self._is_healthy():
            if self._process.poll() is not None:
                raise NotServing(f"transformers serve ended with status {self._process.returncode}:\n{self.log()}")
            if time.monotonic() > end:
                raise NotServing(f"transformers serve is not ready after {_PATIENCE} s:\n{self.log()}")
            time.sleep(0.2)

    def _is_healthy(self) -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{self._port}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port

"""The process that all others are forked from: one for all workers of a run, as its imports take seconds."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing import forkserver
from typing import NamedTuple

FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(["tests.forked", "tests.preloaded"])
_SERVER = vars(forkserver._forkserver)


class ForkServer(NamedTuple):
    """A server that runs, as another process asks it."""

    address: str
    key: bytes | None
    """Python 3.14 asks for one."""

    @classmethod
    def begun(cls) -> ForkServer:
        """The server of this process, which ends with it."""
        forkserver._forkserver.ensure_running()
        return cls(_SERVER["_forkserver_address"], _SERVER.get("_forkserver_authkey"))

    def join(self) -> None:
        """Have this process ask the server, too. It does not keep it alive."""
        _SERVER.update(
            _forkserver_address=self.address,
            _forkserver_authkey=self.key,
            _forkserver_alive_fd=os.open(os.devnull, os.O_RDONLY),
            ensure_running=lambda: None,
        )

"""Ray, which is imported when a command first uses a cluster, and its errors in one line."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

from pytest_fcall.core.commands import install_command

_STORE_BYTES: Final = 256 << 20
"""The object store of a cluster that is started here: what passes through it is used at once."""
_CONNECT_SECONDS: Final = 10
_LOOK_SECONDS: Final = 2.0
"""Seconds between two looks at the head of a cluster."""
_GONE_SECONDS: Final = 30.0
"""A head that does not answer for so long is gone. Ray gives up after a minute."""
_OWN: Final = re.compile(r"(?:UnfitNode|UnreadableCases|StorageError|MissingObject): (.*)")
"""Our own errors in other processes. Ray quotes them among the lines of its own."""

_CAUSED: Final = "The above exception was the direct cause of the following exception:"


class ClusterError(Exception):
    """The cluster cannot be used, or broke down. The text says why, and what to do."""


class _HeadWatch(Thread):
    """Ends this process, in words, when the head of the cluster is gone.

    Ray itself tries for a minute and then ends the process without a word, or waits for ever, in code that nothing can
    interrupt. All that the commands keep is written as a whole, so that the process may end anywhere.
    """

    def __init__(self, head: str, afterwards: str) -> None:
        super().__init__(daemon=True, name="fcall-head-watch")
        self._head = head
        self._afterwards = afterwards
        self._stopped = Event()

    def run(self) -> None:
        """Look now and then, until `stop`."""
        seen = time.monotonic()
        while not self._stopped.wait(_LOOK_SECONDS):
            if not _why_unreachable(self._head):
                seen = time.monotonic()
            elif time.monotonic() - seen > _GONE_SECONDS and not self._stopped.is_set():
                print(
                    f"fcall: {_gone(self._head)}: its head has not answered for {_GONE_SECONDS:.0f} seconds; "
                    f"{self._afterwards}",
                    file=sys.stderr,
                )
                for stream in (sys.stdout, sys.stderr):
                    stream.flush()
                os._exit(1)

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()


def is_elsewhere(address: str | None) -> bool:
    """Whether the cluster was there before, so that its nodes may be other machines."""
    return bool(address or os.environ.get("RAY_ADDRESS"))


@contextmanager
def cluster_of(address: str | None, afterwards: str, shipped: Mapping[str, Any] | None = None) -> Iterator[Any]:
    """Connect to a cluster, or start one on this machine; it is left, or stopped, afterwards. Gives the library.

    `shipped` is the environment that nodes elsewhere are to have. Raises ClusterError. Where the head of the cluster
    dies the process ends; `afterwards` then tells people how it goes on.
    """
    ray = ray_library()
    address = address or os.environ.get("RAY_ADDRESS")
    if address:
        _check_reachable(address)
    local = {} if address else {"include_dashboard": False, "object_store_memory": _STORE_BYTES}
    with ray_errors():
        ray.init(
            address or "local",
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env=shipped if address else None,
            **local,
        )
    head = ray.get_runtime_context().gcs_address
    watch = _HeadWatch(head, afterwards)
    watch.start()
    try:
        yield ray
    except ClusterError as error:  # an error of a call may come before the watch is sure
        if reason := _why_unreachable(head):
            raise ClusterError(f"{_gone(head)}: its head does not answer: {reason}; {afterwards}") from error
        raise
    finally:
        ray.shutdown()
        watch.stop()


def _check_reachable(address: str) -> None:
    """Raise ClusterError where nothing listens at HOST:PORT: Ray itself would try for minutes."""
    if address == "auto" and (noted := _noted_head()):
        if reason := _why_unreachable(noted):
            raise ClusterError(
                f"no cluster of Ray answers at {noted}, where one was last started on this machine: {reason}; "
                "start it, or name another with --address=HOST:PORT"
            )
    elif reason := _why_unreachable(address):
        raise ClusterError(f"no cluster of Ray answers at {address}: {reason}")


def _gone(head: str) -> str:
    return f"the cluster of Ray at {head} is gone"


def _noted_head() -> str:
    """The address that `auto` means, which `ray start` writes to a file; empty where there is no such file."""
    from tempfile import gettempdir

    note = Path(os.environ.get("RAY_TMPDIR") or gettempdir(), "ray", "ray_current_cluster")
    try:
        return note.read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""


def _why_unreachable(address: str) -> str:
    """The reason why no connection to HOST:PORT can be made; empty where one can, or for an address of another form."""
    from socket import create_connection

    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and "/" not in host:
        try:
            create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
        except (OSError, OverflowError) as error:
            return (isinstance(error, OSError) and error.strerror) or str(error)
    return ""


def ray_library() -> Any:
    """The library. Raises ClusterError where it is missing."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # what goes wrong comes as an error, too
    try:
        import ray
        import ray.data
        import ray.util.scheduling_strategies
    except ImportError as error:
        raise ClusterError(f"--engine=ray needs Ray ({error}): {install_command('ray')}") from None
    return ray


@contextmanager
def ray_errors() -> Iterator[None]:
    """Errors of Ray as ClusterError, with what our own code said where it was ours."""
    import ray

    try:
        yield
    except (ray.exceptions.RayError, ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise ClusterError(_reason(error)) from None


def _reason(error: BaseException) -> str:
    """The text of an error for people: our own words, which Ray quotes at any depth, or the last line of its cause."""
    text = str(error)
    if own := _OWN.findall(text):
        return str(own[-1])
    cause, _, _ = text.partition(_CAUSED)
    lines = [line.strip() for line in cause.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else 'nothing is said of it'}"

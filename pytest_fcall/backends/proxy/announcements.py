"""Files with the address of the run's proxy, for apps started before the run."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

from pytest_fcall.backends.processes.locks import lock
from pytest_fcall.backends.proxy.variables import is_http_address

_LONGEST_ADDRESS = 1000
_POLL_SECONDS = 0.02
"""Seconds until the lock is tried again."""


def announce(root: Path, base: str) -> Path:
    """Announce a proxy at `base` in a file that only this user may read; return the file."""
    folder = _folder(root)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / str(os.getpid())
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(base)
    return path


def announced_proxies(root: Path) -> dict[Path, str]:
    """The announced addresses by file, including those of runs that were killed."""
    addresses: dict[Path, str] = {}
    with suppress(OSError):
        for path in sorted(_folder(root).iterdir()):
            with suppress(OSError, UnicodeDecodeError):
                base = path.read_text("utf-8")[:_LONGEST_ADDRESS].strip()
                if is_http_address(base):
                    addresses[path] = base
    return addresses


@asynccontextmanager
async def exclusive_app_use(root: Path) -> AsyncIterator[None]:
    """Wait until no other run in this root folder uses an app started by hand, whose requests name no run."""
    path = root / ".fcall" / "proxies.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    while (held := _try_lock(path)) is None:
        await asyncio.sleep(_POLL_SECONDS)
    with closing(held):
        yield


def _try_lock(path: Path) -> sqlite3.Connection | None:
    try:
        return lock(path, timeout=0)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            return None
        raise


def _folder(root: Path) -> Path:
    return root / ".fcall" / "proxies"

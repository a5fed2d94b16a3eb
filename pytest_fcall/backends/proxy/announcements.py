"""Files that tell apps started before the run where its proxy is."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

from pytest_fcall.backends.processes.locks import lock
from pytest_fcall.backends.proxy.variables import is_http_address

_LONGEST = 1000
_POLL_SECONDS = 0.02
"""Seconds until it is looked again whether it is one's turn."""


def announce(root: Path, base: str) -> Path:
    """Say that a proxy is found at `base`; returns the file, which nobody else may read."""
    folder = _folder(root)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / str(os.getpid())
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(base)
    return path


def announced_proxies(root: Path) -> dict[Path, str]:
    """The proxies that are there, or were when their run was killed."""
    found: dict[Path, str] = {}
    with suppress(OSError):
        for path in sorted(_folder(root).iterdir()):
            with suppress(OSError, UnicodeDecodeError):
                base = path.read_text("utf-8")[:_LONGEST].strip()
                if is_http_address(base):
                    found[path] = base
    return found


@asynccontextmanager
async def only_run_at_app(root: Path) -> AsyncIterator[None]:
    """Wait until no other run in this root folder is at an app of this kind: nobody could tell their requests apart."""
    path = root / ".fcall" / "proxies.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    while (held := _try_lock(path)) is None:
        await asyncio.sleep(_POLL_SECONDS)
    with closing(held):
        yield


def _try_lock(path: Path) -> sqlite3.Connection | None:
    try:
        return lock(path, 0)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            return None
        raise


def _folder(root: Path) -> Path:
    return root / ".fcall" / "proxies"

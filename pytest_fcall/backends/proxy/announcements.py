"""Files with the address of the run's proxy, for apps started before the run."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

from pytest_fcall.backends.processes.locks import check_locks, lock
from pytest_fcall.core.files import PRIVATE_FOLDER, PRIVATE_MODE, make_private_folder, replace_file

_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d{1,5}/[0-9a-f]{32}")
"""That of a proxy of ours, which is on this machine."""
_LONGEST_ADDRESS = 1000
_POLL_SECONDS = 0.02
"""Seconds until the lock is tried again."""


def announce(root: Path, base: str) -> Path:
    """Announce a proxy at `base` in a file that only this user may read; return the file."""
    folder = _folder(root)
    make_private_folder(folder)
    path = folder / str(os.getpid())
    path.unlink(missing_ok=True)  # of an earlier process with the same number
    replace_file(path, [base.encode()], PRIVATE_MODE)
    return path


def announced_proxies(root: Path) -> dict[Path, str]:
    """The announced addresses by file, including those of runs that were killed.

    Those that others could have written are left out: requests with keys are sent there.
    """
    addresses: dict[Path, str] = {}
    with suppress(OSError):
        for path in sorted(_folder(root).iterdir()):
            with suppress(OSError, UnicodeDecodeError), path.open("rb") as file:
                base = file.read(_LONGEST_ADDRESS).decode("utf-8")
                if _ADDRESS.fullmatch(base) and _is_private(os.fstat(file.fileno())):
                    addresses[path] = base
    return addresses


def _is_private(status: os.stat_result) -> bool:
    """Whether nobody else can have written the file; one that came with a project has other permissions."""
    return sys.platform == "win32" or (status.st_uid == os.getuid() and not status.st_mode & 0o077)


@asynccontextmanager
async def exclusive_app_use(root: Path) -> AsyncIterator[None]:
    """Wait until no other run in this root folder uses an app started by hand, whose requests name no run."""
    path = root / PRIVATE_FOLDER / "proxies.lock"
    make_private_folder(path.parent)
    if (held := _try_lock(path)) is None:
        check_locks(path.parent)
    while held is None:
        await asyncio.sleep(_POLL_SECONDS)
        held = _try_lock(path)
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
    return root / PRIVATE_FOLDER / "proxies"

"""What can go wrong with a database, in words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType


class StoreError(Exception):
    """The store could not do what it was asked. The text is one line for people, and says what to do."""


_WORDS: Mapping[int, str] = MappingProxyType(
    {
        sqlite3.SQLITE_FULL: "the disk is full; make room and run again",
        sqlite3.SQLITE_IOERR: "the disk refuses to read or write; look whether it is full or failing",
        sqlite3.SQLITE_READONLY: "the file or its folder may not be written",
        sqlite3.SQLITE_PERM: "the file may not be read",
        sqlite3.SQLITE_CANTOPEN: "the file cannot be opened or created",
        sqlite3.SQLITE_BUSY: "another program has kept it locked for too long",
        sqlite3.SQLITE_LOCKED: "another program has kept it locked for too long",
    }
)
_DAMAGE = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
"""What sound statements meet only where the file is not what we wrote."""


def in_words(path: Path, error: Exception) -> StoreError:
    """Say what `error` means for the person whose recorded replies are in `path`."""
    if isinstance(error, sqlite3.Error):
        said = _WORDS.get(_code(error), str(error))
    else:
        said = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return StoreError(f"recorded replies in {path}: {said}")


def is_damage(path: Path, error: sqlite3.Error) -> bool:
    """Whether the file is not what we wrote, as opposed to busy, full or forbidden."""
    code = _code(error)
    # A file may call itself one that nobody may write.
    return code in _DAMAGE or (code == sqlite3.SQLITE_READONLY and os.access(path, os.W_OK))


def _code(error: sqlite3.Error) -> int:
    """The primary code; errors that Python itself raises have none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF

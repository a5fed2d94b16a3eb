"""How apps that were started before a run find its proxy: a file for each, below the root folder."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pytest_fcall.backends.proxy.upstream import is_address

_LONGEST = 1000


def announce(root: Path, base: str) -> Path:
    """Say that a proxy is found at `base`; returns the file, which nobody else may read."""
    folder = _folder(root)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / str(os.getpid())
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(base)
    return path


def announced(root: Path) -> dict[Path, str]:
    """The proxies that are there, or were when their run was killed."""
    found: dict[Path, str] = {}
    with suppress(OSError):
        for path in sorted(_folder(root).iterdir()):
            with suppress(OSError, UnicodeDecodeError):
                base = path.read_text("utf-8")[:_LONGEST].strip()
                if is_address(base):
                    found[path] = base
    return found


def _folder(root: Path) -> Path:
    return root / ".fcall" / "proxies"

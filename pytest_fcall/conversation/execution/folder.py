"""The folder in which called functions may write, and its removal, whatever they left there."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import count
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp


def make_folder() -> Path:
    """Make an empty folder that is this user's alone; its path leads through no links."""
    return Path(mkdtemp(prefix="fcall-")).resolve()


def remove_folder(folder: Path) -> None:
    """Remove the folder and all that is in it, however deep; what this user cannot remove stays behind."""
    with suppress(OSError):
        _empty(folder)
        folder.rmdir()


def _empty(folder: Path) -> None:
    """Carry up what lies in folders within, level by level: no path grows, and nothing recurses."""
    fresh = (folder / f"{token_hex(8)}-{number}" for number in count())
    while inside := list(os.scandir(folder)):
        for entry in inside:
            if not entry.is_dir(follow_symlinks=False):
                Path(entry).unlink()
                continue
            Path(entry).chmod(0o700)
            for deeper in list(os.scandir(entry)):
                Path(deeper).rename(next(fresh))
            Path(entry).rmdir()

"""`.fcall`, the folder of what runs keep, and private files: nobody else on the machine can read what was answered."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

NAME: Final = ".fcall"
"""The name of the folder, below the root folder."""
FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700


def make_private_folder(folder: Path) -> None:
    """Create a folder that only this user can open; one that exists keeps its permissions. Raises OSError.

    `.fcall` is kept out of version control. It may be a link; a folder in it may not lead out of it.
    """
    if folder.parent.name == NAME:
        make_private_folder(folder.parent)
        refuse_way_out(folder)
    try:
        folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    except FileExistsError:
        what = "a link that leads nowhere" if folder.is_symlink() else "a file where a folder should be"
        raise NotADirectoryError(errno.ENOTDIR, f"{folder.name} is {what}; move it away", str(folder)) from None
    if folder.name == NAME:
        with suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as file:
            file.write("*\n")


def place_elsewhere(root: Path) -> Path | None:
    """Where `.fcall` leads if it is a link that leads out of the root folder; None otherwise."""
    place = Path(os.path.realpath(root / NAME))
    return None if place.is_relative_to(os.path.realpath(root)) else place


def create_private(path: Path) -> None:
    """Create an empty file that only this user can read; one that exists keeps its permissions. Raises OSError."""
    refuse_way_out(path)
    os.close(os.open(path, os.O_RDONLY | os.O_CREAT, FILE_MODE))


def open_private(path: Path) -> IO[bytes]:
    """Open a file that only this user can read, to write it anew. Raises OSError."""
    refuse_way_out(path)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE), "wb")


def refuse_way_out(path: Path) -> None:
    """Raise OSError if a link leads out of the folder in which this file, or folder, seems to be."""
    if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(path.parent)):
        told = (
            f"{path.name} is a link to {path.readlink()}, and what is kept here must not be elsewhere; remove the link"
        )
        raise OSError(errno.ELOOP, told, str(path))

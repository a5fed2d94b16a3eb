"""Files that are replaced as a whole, or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_FOLDER: Final = "__fcall__"
"""Folders of this name, beside case files, are ours."""
_NAME_SHOWN: Final = 60
"""Characters of a file's name in that of its draft, which must not become too long."""


def replace_file(path: Path, portions: Iterable[bytes], mode: int = 0o666) -> None:
    """Write a file atomically: a reader finds the old content or the new. Raises OSError.

    A file that exists keeps its permissions, a new one has `mode`, as far as the umask allows. A folder `__fcall__` is
    made where it is missing, and no link leads out of it.
    """
    if refuse_link_out(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with _draft(path, portions, mode) as draft:
        if path.exists():
            draft.chmod(path.stat().st_mode)
        draft.replace(path)


def create_file(path: Path, portions: Iterable[bytes]) -> None:
    """Write a new file atomically: it is there as a whole, or not at all. Raises OSError, such as FileExistsError."""
    with _draft(path, portions, 0o666) as draft:
        try:
            os.link(draft, path)
        except FileExistsError:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        except OSError:
            path.open("xb").close()  # the file system has no links; nobody else gets the name from here on
            draft.replace(path)


@contextmanager
def _draft(path: Path, portions: Iterable[bytes], mode: int) -> Iterator[Path]:
    """A file with this content beside `path`, which is removed unless it was moved."""
    draft = path.with_name(f".{path.name[:_NAME_SHOWN]}.{os.getpid()}")
    draft.unlink(missing_ok=True)  # of an earlier process with the same number that was killed
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.writelines(portions)
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def refuse_link_out(path: Path) -> bool:
    """Whether a file is in a folder `__fcall__`. Raises OSError where a link leads out of what holds that folder.

    Whoever wrote the link would choose what is overwritten, and people get such folders with other people's projects.
    """
    own = next((folder for folder in path.parents if folder.name == _FOLDER), None)
    if own is None:
        return False
    if not Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(own.parent)):
        told = f"a link in {own} leads elsewhere, and is not followed; put a folder there instead"
        raise OSError(errno.ELOOP, told, str(path))
    return True

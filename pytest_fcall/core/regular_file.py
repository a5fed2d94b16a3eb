"""Files of a project, opened only where they are regular files, and read only up to a size.

A case file may name any path, and any path may be a device, a named pipe or a file without an end.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Final, Protocol

MOST_BYTES: Final = 64 * 2**20
"""The size of a file that people write: cases, tools, prompts, pictures, settings, locks."""
MOST_KEPT_BYTES: Final = 2**30
"""The size of a file that programs write and that is held in memory: recordings, baselines, runs."""

# Without these a named pipe waits for a writer, a terminal becomes that of the process, and Windows changes line ends.
_FLAGS: Final = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_KINDS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class LineStream(Protocol):
    """The source of lines: a file, or its decompressor."""

    def readline(self, size: int, /) -> bytes:
        """Give the rest of the line, up to so many bytes."""


class UnfitFile(OSError):
    """Something else than a regular file, or one beyond the limit. `strerror` says so in words."""


def read_regular(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file. Raises OSError, and UnfitFile for anything else and for more than `most` bytes."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= most:
            content = file.read(size + 1)  # Python takes as much memory as it may have to read
            if len(content) > size:  # files of the system have content, and no size; others grow meanwhile
                content += file.read(most + 1 - len(content))
            if len(content) <= most:
                return content
    raise UnfitFile(errno.EFBIG, f"it is larger than {most // 2**20:,} MiB", str(path))


def open_regular(path: Path) -> BufferedReader:
    """A regular file of any size, for what reads it bit by bit. Raises OSError, and UnfitFile for anything else."""
    check_regular(path)  # before it is opened: merely to open some devices has an effect
    descriptor = os.open(path, _FLAGS)
    try:
        _check_kind(path, os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def check_regular(path: Path) -> None:
    """Raise OSError for a file that is not there, and UnfitFile for what is no regular file."""
    _check_kind(path, path.stat().st_mode)


def bounded_lines(stream: LineStream, most: int = MOST_BYTES) -> Iterator[bytes]:
    """The lines of a stream. Raises OSError, and UnfitFile for one of `most` bytes: what is compressed has any size."""
    for line in iter(partial(stream.readline, most), b""):
        if len(line) == most:
            raise UnfitFile(errno.EFBIG, f"a line is longer than {most // 2**20:,} MiB")
        yield line


def _check_kind(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise UnfitFile(number, f"it is {kind}, not a regular file", str(path))

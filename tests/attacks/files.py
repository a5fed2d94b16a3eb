"""Things on disk that are no files to read, and projects that name them."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

HUGE: Final = 20 * 2**30


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HUGE)


def _loop(path: Path) -> None:
    other = path.with_name("loop")
    path.symlink_to(other)
    other.symlink_to(path)


UNFIT: Final[Mapping[str, tuple[Callable[[Path], None], str]]] = MappingProxyType(
    {
        "a named pipe": (os.mkfifo, "a named pipe"),
        "a socket": (_socket, "a socket"),
        "a folder": (lambda path: path.mkdir(), "a folder"),
        "a device without an end": (lambda path: path.symlink_to("/dev/zero"), "a device"),
        "a file of 20 GB": (_sparse, "larger than 64 MiB"),
        "a loop of links": (_loop, "symbolic links"),
    }
)
"""How each is made, and what is said of it."""


def unprivileged() -> bool:
    """Whether the user of this process is kept from what the rights of files forbid."""
    return sys.platform != "win32" and os.geteuid() != 0

"""Memory in large pages, where Linux has them: it is forked and given back in a third of the time, and found sooner."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_SIZE: Final = 2 << 20
_HUGEPAGE, _COLLAPSE = 14, 25
"""Advice to the system, by the numbers of `madvise`."""
_OWN_MEMORY: Final = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p 0+ 00:00 0 *(?:\[heap\])?")


def use_large_pages() -> None:
    """Have what this process has in memory now in large pages, as far as the system can."""
    if sys.platform != "linux":
        return
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for begin, length in _own_memory():
        advise(begin, length, _HUGEPAGE)
        advise(begin, length, _COLLAPSE)


def _own_memory() -> Iterator[tuple[int, int]]:
    """Where memory begins that is no file's and no other process's, and how long it is, in whole pages."""
    for line in Path("/proc/self/maps").read_text("utf-8").splitlines():
        if found := _OWN_MEMORY.fullmatch(line):
            begin, end = (int(each, 16) for each in found.groups())
            begin, end = -(-begin // _SIZE) * _SIZE, end // _SIZE * _SIZE
            if begin < end:
                yield begin, end - begin

"""Around Python."""

from __future__ import annotations

import ctypes
import os


def libc(name: str, *arguments: object) -> int:
    """Call the C library, which no audit hook sees; -1 becomes the OSError that it stands for."""
    library = ctypes.CDLL(None, use_errno=True)
    result = int(getattr(library, name)(*arguments))
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result

"""How much room text takes on a terminal, where wide characters take two columns."""

from __future__ import annotations

import unicodedata
from itertools import accumulate


def columns(text: str) -> int:
    """Count the columns that `text`, one line of safe text, takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def pad(text: str, width: int) -> str:
    """Fill up with spaces on the right."""
    return text + " " * (width - columns(text))


def shorten(text: str, width: int, cut: str = "…") -> str:
    """Return `text` in at most `width` columns, with `cut` in place of the middle where it does not fit."""
    if columns(text) <= width:
        return text
    room = max(width - columns(cut), 0)
    tail = room // 3
    return _head(text, room - tail) + cut[:width] + _head(text[::-1], tail)[::-1]


def head(text: str, width: int, cut: str = "…") -> str:
    """Return `text` in at most `width` columns, with `cut` at its end where it does not fit."""
    if columns(text) <= width:
        return text
    return _head(text, max(width - columns(cut), 0)) + cut[:width]


def _head(text: str, width: int) -> str:
    if text.isascii():
        return text[:width]
    return text[: sum(1 for taken in accumulate(map(_columns, text)) if taken <= width)]


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1

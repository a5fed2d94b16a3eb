"""Searching in source text as the official checker's regular expressions do, in linear time whatever the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SPACE = re.compile(r"\s*")
_NUMBER_BEGINS = re.compile(r"[-+.\diInN]")
"""Digits, signs, and the first letters of inf and nan: trying to read costs far more than looking."""


def after_space(text: str, at: int) -> int:
    """Skip white space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def line_end(text: str, at: int) -> int:
    """Find where the line ends that `at` is on."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def enclosed(text: str, opening: re.Pattern[str], closing: str, least: int = 0) -> Iterator[str]:
    """Give what stands between each opening and the next closing on the same line, if that is long enough.

    No two openings may overlap, and none may hold a closing or begin within one.
    """
    free, line = 0, -1
    for opened in opening.finditer(text):
        start = opened.end()
        if start < free:
            continue
        if start > line:
            line = line_end(text, start)
        end = text.find(closing, start + least, line)
        if end >= 0:
            yield text[start:end]
            free = end + len(closing)
        else:
            free = line + 1


def number_or_text(text: str) -> int | float | str:
    """Read a number as Python writes it; anything else stays text. No white space may stand around it."""
    if _NUMBER_BEGINS.match(text):
        for read in (int, float):
            try:
                return read(text)
            except ValueError:
                continue
    return text

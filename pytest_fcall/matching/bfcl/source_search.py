"""Search in source text as by the official checker's regular expressions, but always in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SPACE = re.compile(r"\s*")
_INTEGER = re.compile(r"-?\d+$")
_NUMBER_BEGINS = re.compile(r"[-+.\diInN]")
"""Digits, signs, and the first letters of inf and nan: other texts are not worth the cost of trying."""


def after_space(text: str, at: int) -> int:
    """The position after white space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def line_end(text: str, at: int) -> int:
    """The end of the line that `at` is on."""
    found = text.find("\n", at)
    return len(text) if found == -1 else found


def enclosed_texts(text: str, opening: re.Pattern[str], closing: str, least: int = 0) -> Iterator[str]:
    """The texts between each opening and the next closing on the same line, with at least `least` characters.

    Openings must not overlap, contain a closing, or begin inside one.
    """
    free, line = 0, -1
    for opened in opening.finditer(text):
        start = opened.end()
        if start < free:
            continue
        if start > line:
            line = line_end(text, start)
        end = text.find(closing, start + least, line)
        if end != -1:
            yield text[start:end]
            free = end + len(closing)
        else:
            free = line + 1


def number_or_text(text: str) -> int | float | str:
    """Read a number in Python's notation, without white space around it; other text is returned as it is."""
    if _NUMBER_BEGINS.match(text):
        for read in (int, float):
            try:
                return read(text)
            except ValueError:
                continue
    return text


def integer_or_text(text: str) -> int | str:
    """Read an integer; other text is returned as it is."""
    return int(text) if _INTEGER.match(text) else text


def boolean_or_text(text: str) -> bool | str:
    """Read `true` or `false`; other text is returned as it is."""
    return text == "true" if text in {"true", "false"} else text

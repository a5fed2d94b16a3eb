"""Regular expressions that others write: bounded before they are compiled, and matched within a time limit.

The engine is `regex`, which goes back and tries again like `re`, but stops when its time is over.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import regex

SECONDS: Final = 0.25
"""The time limit of a match. An expression with repeats inside repeats could take years on some texts."""
LONGEST: Final = 10_000
"""The length of an expression, in characters."""
MOST_REPEATS: Final = 20_000
"""The most that repeats may add up to: the engine writes out what must be there, and `(a{9999}){9999}` takes 16 GB."""

_COUNT = re.compile(r"\{(\d+)(?:,\d*)?\}", re.ASCII)
_OTHER_SYNTAX = re.compile(r"\(\?[a-zA-Z0-9]*[xV]")
"""Flags by which spaces and comments, or sets inside sets, are written: then it is not known where a group ends."""
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(?P<count>\d+)(?:,\d*)?\}|.", re.ASCII | re.DOTALL)


def compiled_expression(written: str) -> regex.Pattern[str]:
    """The compiled expression. Raises ValueError; its text says what the expression is or has."""
    if len(written) > LONGEST:
        raise ValueError(f"is longer than {LONGEST:,} characters")
    if _repeats(written) > MOST_REPEATS:
        raise ValueError(f"has repeats that add up to more than {MOST_REPEATS:,} characters")
    import regex

    try:
        return regex.compile(written)
    except Exception as error:  # its parser raises more than its own error
        raise ValueError(f"is not a valid regular expression: {error}") from None


def _repeats(written: str) -> int:
    """The number of characters and groups that an expression has when its repeats are written out, or more."""
    most = len(written) * prod(map(_times, _COUNT.findall(written)))
    if most <= MOST_REPEATS or _OTHER_SYNTAX.search(written):
        return most
    sizes, last = [0], 0  # of the groups that are open, and of what a repeat would refer to
    for piece in _PIECE.finditer(written):
        if piece["count"] is not None:
            times = _times(piece["count"])
            sizes[-1] += last * (times - 1)
            last *= times
        elif piece[0] == "(":
            sizes.append(0)
        elif piece[0] == ")" and len(sizes) > 1:
            last = sizes.pop() + 1
            sizes[-1] += last
        else:
            last = 1
            sizes[-1] += 1
    return sum(sizes)


def _times(count: str) -> int:
    """The number of times that a repeated part is written out."""
    digits = count.lstrip("0")
    return int(digits or 1) if len(digits) < len(str(MOST_REPEATS)) + 1 else MOST_REPEATS + 1

"""Globs, regular expressions and normal forms of text, in bounded time for any text and any pattern.

Globs have one meaning everywhere. The engine of regular expressions is `regex`, which goes back and tries again like
`re`, but stops when its time is over.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Final, Literal
from unicodedata import combining, normalize

if TYPE_CHECKING:
    import regex

MATCH_SECONDS: Final = 0.25
"""The time limit of a match. An expression with repeats inside repeats could take years on some texts."""
VOLATILE_SECONDS: Final = 1.0
"""The time limit for all patterns of what differs each time on one request."""

_LONGEST_EXPRESSION: Final = 10_000
"""The length of an expression, in characters."""
_MOST_REPEATS: Final = 20_000
"""The most that repeats may add up to: the engine writes out what must be there, and `(a{9999}){9999}` takes 16 GB."""
_LONGEST_VOLATILE: Final = 1_000
_LONGEST_RUN: Final = 500
"""The most marks in a row that are put in order. Their order takes time that grows with the square of their number; the
languages of the world have a handful."""

_COUNT = re.compile(r"\{(\d+)(?:,\d*)?\}", re.ASCII)
_OTHER_SYNTAX = re.compile(r"\(\?[a-zA-Z0-9]*[xV]")
"""Flags by which spaces and comments, or sets inside sets, are written: then it is not known where a group ends."""
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(?P<count>\d+)(?:,\d*)?\}|.", re.ASCII | re.DOTALL)


class VolatileError(ValueError):
    """A pattern of what differs each time in requests cannot be used, or takes too long. The text is for people."""


def is_glob(name: str) -> bool:
    """Whether a name is a glob."""
    return "*" in name


def glob_matches(glob: str, text: str) -> bool:
    """Whether `text` matches `glob`, in which `*` is any run of characters and no other character is special.

    Takes linear time, unlike regular expressions: the text may come from a model.
    """
    first, *rest = glob.split("*")
    if not rest:
        return text == glob
    last = rest.pop()
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    start, end = len(first), len(text) - len(last)
    for part in rest:
        place = text.find(part, start, end)
        if place < 0:
            return False
        start = place + len(part)
    return True


def compiled_expression(written: str) -> regex.Pattern[str]:
    """The compiled expression. Raises ValueError; its text says what the expression is or has."""
    if len(written) > _LONGEST_EXPRESSION:
        raise ValueError(f"is longer than {_LONGEST_EXPRESSION:,} characters")
    if _repeats(written) > _MOST_REPEATS:
        raise ValueError(f"has repeats that add up to more than {_MOST_REPEATS:,} characters")
    import regex

    try:
        return regex.compile(written)
    except Exception as error:  # its parser raises more than its own error
        raise ValueError(f"is not a valid regular expression: {error}") from None


@lru_cache(maxsize=256)
def compiled_pattern(pattern: str) -> Any:
    """The expression, of the library `regex`. Raises VolatileError if it is not valid, or matches where nothing is."""
    if len(pattern) > _LONGEST_VOLATILE:
        raise VolatileError(f"a pattern must not be longer than {_LONGEST_VOLATILE:,} characters")
    try:
        expression = compiled_expression(pattern)
        matches_nothing = expression.search("", timeout=VOLATILE_SECONDS)
    except TimeoutError:
        raise VolatileError(f"{pattern!r} takes too long; write it without repeats inside repeats") from None
    except ValueError as error:
        raise VolatileError(f"{pattern!r} {error}") from None
    if matches_nothing:
        raise VolatileError(f"{pattern!r} also matches where nothing is, and so everywhere")
    return expression


def normal_form(form: Literal["NFC", "NFKC"], text: str) -> str:
    """The text in a normal form; as it is where it has at least 500 to 1,000 combining marks in a row."""
    if any(combining(text[place]) and _is_run(text, place) for place in range(_LONGEST_RUN, len(text), _LONGEST_RUN)):
        return text
    return normalize(form, text)


def _repeats(written: str) -> int:
    """The number of characters and groups that an expression has when its repeats are written out, or more."""
    most = len(written) * prod(map(_times, _COUNT.findall(written)))
    if most <= _MOST_REPEATS or _OTHER_SYNTAX.search(written):
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
    return int(digits or 1) if len(digits) < len(str(_MOST_REPEATS)) + 1 else _MOST_REPEATS + 1


def _is_run(text: str, place: int) -> bool:
    """Whether a place is within a long run of marks."""
    return all(map(combining, text[place : place + _LONGEST_RUN])) or all(
        map(combining, text[place - _LONGEST_RUN : place])
    )

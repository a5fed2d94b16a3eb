"""Unicode's normal forms, in a time that grows with the text."""

from __future__ import annotations

from typing import Final, Literal
from unicodedata import combining, normalize

_LONGEST_RUN: Final = 500
"""The most marks in a row that are put in order. Their order takes time that grows with the square of their number; the
languages of the world have a handful."""


def normal_form(form: Literal["NFC", "NFKC"], text: str) -> str:
    """The text in a normal form; as it is where it has at least 500 to 1,000 combining marks in a row."""
    if any(combining(text[place]) and _is_run(text, place) for place in range(_LONGEST_RUN, len(text), _LONGEST_RUN)):
        return text
    return normalize(form, text)


def _is_run(text: str, place: int) -> bool:
    """Whether a place is within a long run of marks."""
    return all(map(combining, text[place : place + _LONGEST_RUN])) or all(
        map(combining, text[place - _LONGEST_RUN : place])
    )

"""Text that cannot be read: the error, the limits, and short printable sentences about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice


class Unreadable(ValueError):
    """The text says why, without a full stop."""


MAX_DEPTH = 100
"""Levels of nesting; real arguments have a handful."""
TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"


_MOST = 5


def shortened(text: str, longest: int = 60) -> str:
    """Quote text so that it is short and printable."""
    return repr(text) if len(text) <= longest else f"{text[: longest - 1]!r}…"


def joined_faults(faults: Sequence[str]) -> str | None:
    """Join sentences, the first few of many; None where there are none."""
    return " ".join(first_few(faults)) or None


def first_few(sentences: Sequence[str]) -> tuple[str, ...]:
    """The first of many sentences, and how many there are beside them."""
    if len(sentences) <= _MOST:
        return tuple(sentences)
    return (*sentences[:_MOST], f"And {len(sentences) - _MOST:,} more.")


def repeated_keys(keys: Iterable[str]) -> list[str]:
    """The keys that stand more than once."""
    return [key for key, count in Counter(keys).items() if count > 1]


def repeated_key_notes(what: str, keys: Iterable[str]) -> tuple[str, ...]:
    """Notes on the first few of such keys."""
    unique = islice(dict.fromkeys(keys), _MOST)
    return tuple(f"The {what} {shortened(key)} stands twice; the last one counts." for key in unique)


def dropped_text_note(text: str) -> tuple[str, ...]:
    """A note on text that is no part of a call; none where it is blank."""
    return (f"Text beside the calls was dropped: {shortened(said)}.",) if (said := text.strip()) else ()

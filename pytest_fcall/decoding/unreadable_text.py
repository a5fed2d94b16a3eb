"""Text that cannot be read: its error, the limit of nesting, and short printable sentences about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

MAX_DEPTH = 100
"""The deepest nesting that is read. Real arguments have a few levels."""
TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"

_MOST_SENTENCES = 5


class Unreadable(ValueError):
    """A text cannot be read. The message is a clause without a full stop."""


def quote_short(text: str, longest: int = 60) -> str:
    """Quote a text so that it is short and printable."""
    return repr(text) if len(text) <= longest else f"{text[: longest - 1]!r}…"


def joined_faults(faults: Sequence[str]) -> str | None:
    """Join the first few sentences, None where there are none."""
    return " ".join(first_few(faults)) or None


def first_few(sentences: Sequence[str]) -> tuple[str, ...]:
    """Give the first few sentences, and the number of the others."""
    if len(sentences) <= _MOST_SENTENCES:
        return tuple(sentences)
    return (*sentences[:_MOST_SENTENCES], f"And {len(sentences) - _MOST_SENTENCES:,} more.")


def repeated_keys(keys: Iterable[str]) -> list[str]:
    """Give the keys that occur more than once."""
    return [key for key, count in Counter(keys).items() if count > 1]


def repeated_key_notes(kind: str, keys: Iterable[str]) -> tuple[str, ...]:
    """Notes on the first few repeated keys; `kind` is `key` or `parameter`."""
    unique = islice(dict.fromkeys(keys), _MOST_SENTENCES)
    return tuple(f"The {kind} {quote_short(key)} is repeated; the last value counts." for key in unique)

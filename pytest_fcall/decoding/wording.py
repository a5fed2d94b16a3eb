"""Hostile text and long lists of faults, made short and printable."""

from __future__ import annotations

from collections.abc import Sequence

_MOST = 5


def shortened(text: str, longest: int = 60) -> str:
    """Quote text so that it is short and printable."""
    return repr(text) if len(text) <= longest else f"{text[: longest - 1]!r}…"


def told(faults: Sequence[str]) -> str | None:
    """Join sentences, the first few of many; None where there are none."""
    return " ".join(few(faults)) or None


def few(sentences: Sequence[str]) -> tuple[str, ...]:
    """The first of many sentences, and how many there are beside them."""
    if len(sentences) <= _MOST:
        return tuple(sentences)
    return (*sentences[:_MOST], f"And {len(sentences) - _MOST:,} more.")


def dropped(text: str) -> tuple[str, ...]:
    """A note on text that is no part of a call; none where it is blank."""
    return (f"Text beside the calls was dropped: {shortened(said)}.",) if (said := text.strip()) else ()

"""Hostile text and long lists of faults, made short and printable."""

from __future__ import annotations

from collections.abc import Sequence

_MOST = 5


def shortened(text: str, longest: int = 60) -> str:
    """Quote text so that it is short and printable."""
    return repr(text) if len(text) <= longest else f"{text[: longest - 1]!r}…"


def told(faults: Sequence[str]) -> str | None:
    """Join sentences, the first few of many; None where there are none."""
    if len(faults) > _MOST:
        faults = [*faults[:_MOST], f"And {len(faults) - _MOST:,} more."]
    return " ".join(faults) or None

"""Names that every wire takes, and the way back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

_LONGEST = 64
_UNTAKEN = re.compile(r"[^a-zA-Z0-9_-]")


def wire_name(name: str) -> str:
    """`name` in at most 64 ASCII letters, digits, `_` and `-`; any other character becomes `_`.

    Where that would lose what tells names apart (letters of other scripts, the end of a long name), a short digest of
    the whole name ends it.
    """
    plain = _UNTAKEN.sub("_", name)
    if plain and len(plain) <= _LONGEST and name.isascii():
        return plain
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain[: _LONGEST - len(mark) - 1]}_{mark}"


def wire_names(names: Sequence[str]) -> dict[str, str]:
    """The names by those they have on the wire. Raises ValueError, in words, where two would be the same there."""
    aliases: dict[str, str] = {}
    for name in names:
        alias = wire_name(name)
        if alias in aliases:
            raise ValueError(
                f"the tools `{aliases[alias]}` and `{name}` would both be sent as `{alias}`: rename one of them"
            )
        aliases[alias] = name
    return aliases

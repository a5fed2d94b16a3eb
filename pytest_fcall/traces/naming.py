"""Ids of cases, made of what is asked."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_LONGEST = 48
_MAY_BE_ID = re.compile(r"[\w.-](?:[\w. -]{0,150}[\w.-])?")
_WORD = re.compile(r"\w+")


class Names:
    """Gives every case a name of its own."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: Counter[str] = Counter()

    def name(self, asked: str, tools: Iterable[str], own: str = "") -> str:
        """Its own, else the first words of the question, else the tools that are called; numbered where it is taken."""
        base = own if _MAY_BE_ID.fullmatch(own) else _words(asked) or _words(" ".join(tools)) or "case"
        name = base
        while name in self._taken:
            self._last[base] += 1
            name = f"{base}_{self._last[base] + 1}"
        self._taken.add(name)
        return name


def _words(text: str) -> str:
    name = ""
    for word in _WORD.findall(unicodedata.normalize("NFC", text[:500]).lower()):
        if len(name) + len(word) > _LONGEST:
            break
        name = f"{name}_{word}" if name else word
    return name.strip("_") if name.isprintable() else ""

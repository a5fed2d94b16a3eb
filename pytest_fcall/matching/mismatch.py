"""What matching finds wrong inside one call, before it is known which of the calls made it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from pytest_fcall.core.pattern import Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import ReasonKind

Keys: TypeAlias = tuple[str | int, ...]
"""The way from a call's arguments to a value: names and list indices."""


class Mismatch(NamedTuple):
    """One finding about the value at `keys`.

    `tell` writes its sentence: most findings are of alternatives that did not come to be the nearest.
    """

    kind: ReasonKind
    keys: Keys
    tell: Callable[[], str]
    expected: Pattern = None
    got: Json = None
    undecided: bool = False
    """Whether nobody could say: an operator that needs what is not here, or a comparator that failed."""


_PLAIN_KEY = re.compile(r"[\w$-]{1,100}", re.ASCII)


def path_text(keys: Sequence[str | int]) -> str:
    """Write keys as `items[0].unit`; names that would mislead are quoted."""
    parts: list[str] = []
    for key in keys:
        if isinstance(key, int):
            parts.append(f"[{key}]")
        elif _PLAIN_KEY.fullmatch(key):
            parts.append(f".{key}" if parts else key)
        else:
            parts.append(f"[{key[:100]!r}]")
    return "".join(parts)

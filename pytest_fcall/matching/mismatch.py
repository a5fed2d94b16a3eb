"""What matching finds wrong inside one call, before it is known which of the calls made it is."""

from __future__ import annotations

from collections.abc import Callable
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

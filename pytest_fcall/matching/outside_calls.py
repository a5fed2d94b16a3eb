"""Values that are no arguments: answers, states, and what calls gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_fcall.core.pattern import Pattern
from pytest_fcall.core.rules import Rules
from pytest_fcall.core.values import Json
from pytest_fcall.matching.mismatch import Keys, Mismatch
from pytest_fcall.matching.objects import Compare
from pytest_fcall.matching.place import Place, Ways
from pytest_fcall.matching.values import compare

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


def mismatches(
    expected: Pattern,
    got: Json,
    keys: Keys,
    rules: Rules,
    comparators: Mapping[str, Comparator],
    compared: Compare = compare,
) -> list[Mismatch]:
    """Give everything in which the value at `keys` differs from what is expected. Total.

    No schema speaks of such a value, and no rule of `match:`, which are about arguments.
    """
    at = Place(Ways("", None, replace(rules, match=()), comparators), keys, rules.strings)
    try:
        return compared(expected, got, at)
    except RecursionError:
        return at.undecided(None, None, "what is expected of it nests too deeply.")

"""How what an answer comes to differs from what is expected, in words."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from reprlib import repr as shown
from typing import Final, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_MOST: Final = 3


def differences(state: Mapping[_Key, object], expected: Mapping[_Key, object]) -> str:
    """Name the keys whose values differ, the first three; nothing where none does."""
    found = list(_differences(state, expected))
    more = f"; and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return "; ".join(found[:_MOST]) + more


def _differences(state: Mapping[_Key, object], expected: Mapping[_Key, object]) -> Iterator[str]:
    for key in (*expected, *(key for key in state if key not in expected)):
        if key not in state:
            yield f"`{key}` is missing, expected {shown(expected[key])}"
        elif key not in expected:
            yield f"`{key}` is {shown(state[key])}, expected nothing"
        elif state[key] != expected[key]:
            yield f"`{key}` is {shown(state[key])}, expected {shown(expected[key])}"

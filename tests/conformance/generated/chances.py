"""Small choices. All shrink towards the plain one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


def chance(draw: st.DrawFn, percent: int) -> bool:
    return draw(st.integers(0, 99)) >= 100 - percent


def one_of(draw: st.DrawFn, choices: Sequence[T]) -> T:
    return choices[draw(st.integers(0, len(choices) - 1))]


def one_made(draw: st.DrawFn, makers: Sequence[Callable[[], T]]) -> T:
    """Make one of several things, and only that one."""
    return one_of(draw, makers)()

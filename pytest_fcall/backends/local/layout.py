"""Prompts of different lengths side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Layout:
    """Rows of one width. What is written follows them all at the same place."""

    ids: list[list[int]]
    mask: list[list[int]]
    """1 where a token is the prompt's own."""
    width: int


def side_by_side(rows: Sequence[Sequence[int]], begun: Sequence[int], pad: int) -> Layout:
    """Put `rows` side by side, each filled up on the left, and again after the tokens that it has begun with."""
    before = max(begun)
    after = max(len(row) - count for row, count in zip(rows, begun, strict=True))

    def filled(values: Sequence[int], count: int, filler: int) -> list[int]:
        left, between = before - count, after - (len(values) - count)
        return [*[filler] * left, *values[:count], *[filler] * between, *values[count:]]

    counted = list(zip(rows, begun, strict=True))
    return Layout(
        [filled(row, count, pad) for row, count in counted],
        [filled([1] * len(row), count, 0) for row, count in counted],
        before + after,
    )

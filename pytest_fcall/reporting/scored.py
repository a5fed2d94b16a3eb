"""What a case adds to scores: plain data that travels with its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pytest_fcall.core import Json

_MOST: Final = 1e15
"""More than anybody counts, and little enough for sums to be exact."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What a case adds to a score that a tag asks for: nothing where no reply came."""

    tag: str
    score: str
    numbers: tuple[float, ...] = ()


def scores_from_json(data: Json) -> tuple[Scored, ...]:
    """Read what `scores_to_json` gave; ValueError where it is no such thing."""
    match data:
        case [*scores]:
            return tuple(map(_scored, scores))
    raise ValueError("scores: expected a list")


def scores_to_json(scores: Sequence[Scored]) -> list[Json]:
    """Give the scores as what JSON can say."""
    return [[each.tag, each.score, [*each.numbers]] for each in scores]


def _scored(data: Json) -> Scored:
    match data:
        case [str(tag), str(score), [*numbers]]:
            return Scored(tag, score, tuple(map(_number, numbers)))
    raise ValueError("scores: expected a tag, a score and numbers")


def _number(data: Json) -> float:
    match data:
        case bool():
            pass
        case int() | float() if 0 <= data <= _MOST:
            return data
    raise ValueError("scores: expected numbers from 0 on")

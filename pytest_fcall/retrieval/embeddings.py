"""Documents by what they mean: as vectors, which a model makes of texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from operator import mul
from typing import TypeAlias

Vector: TypeAlias = Sequence[float]
Embed: TypeAlias = Callable[[Sequence[str]], Sequence[Vector]]
"""Makes a vector of each text, all of one length."""


class NoVectors(ValueError):
    """What embeds texts has not given a vector for each. The text says what it gave."""


class Embeddings:
    """Ranks documents by the angle between their vectors and that of a question.

    Raises NoVectors; what `embed` raises is left to rise.
    """

    def __init__(self, documents: Sequence[str], embed: Embed) -> None:
        self._embed = embed
        self._vectors = _units(documents, embed) if documents else []

    def top(self, query: str, k: int) -> list[int]:
        """The closest documents; those that are as close stand in their order."""
        if not self._vectors:
            return []
        (asked,) = _units([query], self._embed)
        if len(asked) != len(self._vectors[0]):
            raise NoVectors(f"embeddings of {len(self._vectors[0])} numbers, and then one of {len(asked)}")
        near = [sum(map(mul, asked, vector)) for vector in self._vectors]
        return sorted(range(len(near)), key=lambda place: -near[place])[:k]


def sentence_transformer(name: str) -> Embed:
    """Embed with a model that the library sentence-transformers loads. OSError where it cannot be loaded."""
    model = import_module("sentence_transformers").SentenceTransformer(name)
    return lambda texts: model.encode(list(texts), show_progress_bar=False).tolist()


def _units(texts: Sequence[str], embed: Embed) -> list[Vector]:
    given = embed(texts)
    try:
        units = [_unit([float(each) for each in vector]) for vector in given]
    except (TypeError, ValueError, OverflowError):
        raise NoVectors("something else than a list of numbers for each text") from None
    if len(units) != len(texts):
        raise NoVectors(f"{len(units)} of {len(texts)} embeddings")
    if not all(math.isfinite(each) for unit in units for each in unit):
        raise NoVectors("embeddings with numbers that are none, or are infinite")
    if len({len(unit) for unit in units}) > 1:
        raise NoVectors("embeddings of different lengths")
    return units


def _unit(vector: Vector) -> Vector:
    length = math.hypot(*vector) or 1.0
    return [each / length for each in vector]

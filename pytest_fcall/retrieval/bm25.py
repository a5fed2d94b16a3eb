"""BM25, by the library rank-bm25, which the retrievers of published benchmarks are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, ClassVar, Literal

_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")
_REMEMBERED = 4_000_000
"""How many numbers are kept of what words of questions count for in each document: most questions share words."""


def words(text: str) -> list[str]:
    """The words of a text in small letters; those in a name count one by one, as in `getWeather` and `get_weather`."""
    return [word.casefold() for word in _WORD.findall(text)]


class Bm25:
    """Ranks documents by the words that they share with a question: rare words count more than common ones.

    By the formula BM25+, by which every shared word counts for something, however few documents there are.
    """

    formula: ClassVar[Literal["BM25Plus", "BM25Okapi"]] = "BM25Plus"

    def __init__(self, documents: Sequence[str], tokens: Callable[[str], list[str]] = words) -> None:
        self._tokens = tokens
        # A document without any word would be divided by.
        split = [tokens(document) or [""] for document in documents]
        index: Any = getattr(import_module("rank_bm25"), self.formula)(split) if split else None
        self._index = index
        # A question counts for what its words do, and the library goes through all documents for each.
        kept = _REMEMBERED // max(len(split), 1)
        self._scores_of = lru_cache(kept)(lambda word: index.get_scores([word]))

    def top(self, query: str, k: int) -> list[int]:
        """The best documents; those that are as good stand in their order."""
        if self._index is None:
            return []
        known = (word for word in self._tokens(query) if word in self._index.idf)
        scores = sum(map(self._scores_of, known), start=self._index.get_scores([]))
        ranked = (-scores).argsort(kind="stable")
        return [int(place) for place in ranked[:k]]


class OkapiBm25(Bm25):
    """The original formula, by which a word that half of the documents have counts for nothing."""

    formula = "BM25Okapi"

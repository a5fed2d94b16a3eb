"""BM25, by the library rank-bm25, which the retrievers of published benchmarks are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import ClassVar, Literal

_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")


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
        self._index = getattr(import_module("rank_bm25"), self.formula)(split) if split else None

    def top(self, query: str, k: int) -> list[int]:
        """The best documents; those that are as good stand in their order."""
        if self._index is None:
            return []
        ranked = (-self._index.get_scores(self._tokens(query))).argsort(kind="stable")
        return [int(place) for place in ranked[:k]]


class OkapiBm25(Bm25):
    """The original formula, by which a word that half of the documents have counts for nothing."""

    formula = "BM25Okapi"

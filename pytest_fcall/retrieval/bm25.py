"""BM25, by the library rank-bm25, which the retrievers of published benchmarks are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")


def words(text: str) -> list[str]:
    """The words of a text in small letters; those in a name count one by one, as in `getWeather` and `get_weather`."""
    return [word.casefold() for word in _WORD.findall(text)]


class Bm25:
    """Ranks documents by the words that they share with a question: rare words count more than common ones."""

    def __init__(self, documents: Sequence[str], tokens: Callable[[str], list[str]] = words) -> None:
        self._tokens = tokens
        # A document without any word would be divided by.
        split = [tokens(document) or [""] for document in documents]
        self._index = None
        if split:
            from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]  # it has no types

            self._index = BM25Okapi(split)

    def top(self, query: str, k: int) -> list[int]:
        """The best documents; those that are as good stand in their order."""
        if self._index is None:
            return []
        ranked = (-self._index.get_scores(self._tokens(query))).argsort(kind="stable")
        return [int(place) for place in ranked[:k]]

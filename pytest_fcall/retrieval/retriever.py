"""Finding the documents that suit a question."""

from __future__ import annotations

from typing import Protocol


class Retriever(Protocol):
    """Knows some documents by their places in a list."""

    def top(self, query: str, k: int) -> list[int]:
        """The places of the `k` best documents, the best first; fewer where there are fewer."""
        ...

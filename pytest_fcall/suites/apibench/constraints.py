"""What questions ask for beside a task: a size of the model, or how accurate it is to be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

_TAGS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "parameter_count": re.compile(
            r"\d[\d.,]*\s?(?:[kmb]|thousand|million|billion)?\s(?:parameters|params)\b"
            r"|\b(?:fewer|less|more|least|most|under|below|within|limited)\b[^.?!]{0,40}\bparameters\b",
            re.IGNORECASE,
        ),
        "accuracy_bound": re.compile(
            r"\b(?:accuracy|accurate|top-?[15]|mAP|F1|BLEU|score)\b[^.?!]{0,40}(?<![\w-])\d+(?:\.\d+)?\s?%?"
            r"|\b\d+(?:\.\d+)?\s?%[^.?!]{0,40}\b(?:accuracy|accurate|top-?[15])\b",
            re.IGNORECASE,
        ),
    }
)


def tags_of(question: str) -> tuple[str, ...]:
    """The tags of a question: `parameter_count`, `accuracy_bound`."""
    return tuple(_found(question[:20_000]))


def _found(question: str) -> Iterator[str]:
    return (tag for tag, pattern in _TAGS.items() if pattern.search(question))

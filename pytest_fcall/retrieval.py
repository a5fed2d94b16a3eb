"""Retrievers that choose the tools or documents of a request: BM25, embeddings, and an oracle as the upper bound."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from operator import mul
from typing import Any, ClassVar, Final, Literal, Protocol, TypeAlias

from pytest_fcall.core.case import Case
from pytest_fcall.core.digests import canonical
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Message

__all__ = [
    "Bm25",
    "Embed",
    "Embeddings",
    "NoVectors",
    "OkapiBm25",
    "Oracle",
    "Retriever",
    "case_question",
    "choose_tools",
    "expected_tools",
    "missed_tools",
    "plain_vectors",
    "sentence_transformer",
    "split_words",
    "tool_document",
]


_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")
_REMEMBERED_SCORES: Final = 4_000_000
"""Numbers that are cached: the score of a word for each document. Most questions share words."""


class Retriever(Protocol):
    """Ranks documents, which are identified by their places in a list."""

    def top(self, query: str, k: int) -> list[int]:
        """The places of the `k` best documents, the best first; fewer where there are fewer."""
        ...


def split_words(text: str) -> list[str]:
    """The words of a text in lower case; names such as `getWeather` and `get_weather` are split into their words."""
    return [word.casefold() for word in _WORD.findall(text)]


class Bm25:
    """Ranks documents by the words that they share with a question; rare words count more.

    The formula is BM25+: every shared word counts, however few documents there are.
    """

    formula: ClassVar[Literal["BM25Plus", "BM25Okapi"]] = "BM25Plus"

    def __init__(self, documents: Sequence[str], tokens: Callable[[str], list[str]] = split_words) -> None:
        self._tokens = tokens
        # The library divides by the number of words.
        split = [tokens(document) or [""] for document in documents]
        index: Any = getattr(import_module("rank_bm25"), self.formula)(split) if split else None
        self._index = index
        # The score of a question is the sum of its words' scores, and each of those takes a pass over all documents.
        cached = _REMEMBERED_SCORES // max(len(split), 1)
        self._scores_of = lru_cache(cached)(lambda word: index.get_scores([word]))

    def top(self, query: str, k: int) -> list[int]:
        """The best documents; equally good ones in their order."""
        if self._index is None:
            return []
        known = (word for word in self._tokens(query) if word in self._index.idf)
        scores = sum(map(self._scores_of, known), start=self._index.get_scores([]))
        ranked = (-scores).argsort(kind="stable")
        return [int(place) for place in ranked[:k]]


class OkapiBm25(Bm25):
    """The original formula: a word in half of the documents does not count."""

    formula = "BM25Okapi"


Vector: TypeAlias = Sequence[float]
Embed: TypeAlias = Callable[[Sequence[str]], Sequence[Vector]]
"""Makes a vector of each text; all have the same length."""


class NoVectors(ValueError):
    """A function for embeddings did not return a vector for each text. The message says what it returned."""


class Embeddings:
    """Ranks documents by the angle between their vectors and that of a question.

    Raises NoVectors, and what `embed` raises.
    """

    def __init__(self, documents: Sequence[str], embed: Embed) -> None:
        self._embed = embed
        self._vectors = _unit_vectors(documents, embed) if documents else []

    def top(self, query: str, k: int) -> list[int]:
        """The closest documents; equally close ones in their order."""
        if not self._vectors:
            return []
        (question,) = _unit_vectors([query], self._embed)
        if len(question) != len(self._vectors[0]):
            raise NoVectors(f"embeddings of {len(self._vectors[0])} numbers, and then one of {len(question)}")
        scores = [sum(map(mul, question, vector)) for vector in self._vectors]
        return sorted(range(len(scores)), key=lambda place: -scores[place])[:k]


def sentence_transformer(name: str) -> Embed:
    """Embed with a model of the library sentence-transformers. Raises OSError where it cannot be loaded."""
    model = import_module("sentence_transformers").SentenceTransformer(name)
    return lambda texts: model.encode(list(texts), show_progress_bar=False).tolist()


def plain_vectors(texts: Sequence[str], embed: Embed) -> list[Vector]:
    """The vectors of texts as they are, checked. Raises NoVectors, and what `embed` raises."""
    try:
        vectors = [[float(each) for each in vector] for vector in embed(texts)]
    except (TypeError, ValueError, OverflowError):
        raise NoVectors("something other than a list of numbers for each text") from None
    if len(vectors) != len(texts):
        raise NoVectors(f"{len(vectors)} of {len(texts)} embeddings")
    if not all(math.isfinite(each) for vector in vectors for each in vector):
        raise NoVectors("embeddings with NaN or infinite numbers")
    if len({len(vector) for vector in vectors}) > 1:
        raise NoVectors("embeddings of different lengths")
    return [*vectors]


def _unit_vectors(texts: Sequence[str], embed: Embed) -> list[Vector]:
    return [_unit_vector(vector) for vector in plain_vectors(texts, embed)]


def _unit_vector(vector: Vector) -> Vector:
    length = math.hypot(*vector) or 1.0
    return [each / length for each in vector]


class Oracle:
    """Ranks the right documents first, then the others in their order: the upper bound of retrieval."""

    def __init__(self, right: Sequence[int], count: int) -> None:
        self._ranked = list(dict.fromkeys((*right, *range(count))))

    def top(self, query: str, k: int) -> list[int]:  # noqa: ARG002  # part of the protocol
        """The first documents, whatever the question."""
        return self._ranked[:k]


def tool_document(tool: Tool) -> str:
    """A tool as a document: its name, description and parameters."""
    return f"{tool.name}\n{tool.description}\n{canonical(tool.parameters.get('properties', {}))}"


def case_question(case: Case) -> str:
    """The text of the user's first messages."""
    first = [message for message in case.turns[0].messages if message.get("role") == "user"]
    return "\n".join(text for message in first for text in _message_texts(message))


def choose_tools(case: Case, retriever: Retriever, k: int) -> tuple[Tool, ...]:
    """The `k` best tools of a case for its question, the best first."""
    return tuple(case.tools[place] for place in retriever.top(case_question(case), k))


def expected_tools(case: Case) -> tuple[str, ...]:
    """The names of the tools that a right answer calls; of several right answers, those of the first."""
    names = (name for turn in case.turns if turn.expect is not None for name in _expected_names(turn.expect))
    return tuple(dict.fromkeys(names))


def missed_tools(case: Case, offered: Sequence[Tool]) -> tuple[str, ...]:
    """The names of expected tools that were not offered: their calls are no fault of the model.

    Of alternatives, the one with the fewest such tools counts.
    """
    available = {tool.name for tool in offered}
    missed = (name for turn in case.turns if turn.expect is not None for name in _missed_names(turn.expect, available))
    return tuple(dict.fromkeys(missed))


def _missed_names(expectation: Expectation, offered: set[str]) -> list[str]:
    if expectation.kind == "any_of" and expectation.alternatives:
        return min((_missed_names(each, offered) for each in expectation.alternatives), key=len)
    return [name for name in _expected_names(expectation) if name not in offered]


def _expected_names(expectation: Expectation) -> Iterator[str]:
    if expectation.kind == "any_of":
        yield from _expected_names(expectation.alternatives[0]) if expectation.alternatives else ()
        return
    for stage in expectation.stages:
        yield from (call.tool for call in stage if call.times[0])


def _message_texts(message: Message) -> Iterator[str]:
    content = message.get("content")
    for part in [content] if isinstance(content, str) else content if isinstance(content, list) else ():
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield text

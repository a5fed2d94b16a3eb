"""Retrievers that choose the tools or documents of a request: BM25, embeddings, and an oracle as the upper bound."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from operator import mul
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from pytest_fcall.core import Case, Expectation, Message, Tool, canonical

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
    "sentence_transformer",
    "split_words",
    "tool_document",
]


class Retriever(Protocol):
    """Knows some documents by their places in a list."""

    def top(self, query: str, k: int) -> list[int]:
        """The places of the `k` best documents, the best first; fewer where there are fewer."""
        ...


_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")
_REMEMBERED_SCORES = 4_000_000
"""How many numbers are kept of what words of questions count for in each document: most questions share words."""


def split_words(text: str) -> list[str]:
    """The words of a text in small letters; those in a name count one by one, as in `getWeather` and `get_weather`."""
    return [word.casefold() for word in _WORD.findall(text)]


class Bm25:
    """Ranks documents by the words that they share with a question: rare words count more than common ones.

    By the formula BM25+, by which every shared word counts for something, however few documents there are.
    """

    formula: ClassVar[Literal["BM25Plus", "BM25Okapi"]] = "BM25Plus"

    def __init__(self, documents: Sequence[str], tokens: Callable[[str], list[str]] = split_words) -> None:
        self._tokens = tokens
        # A document without any word would be divided by.
        split = [tokens(document) or [""] for document in documents]
        index: Any = getattr(import_module("rank_bm25"), self.formula)(split) if split else None
        self._index = index
        # A question counts for what its words do, and the library goes through all documents for each.
        kept = _REMEMBERED_SCORES // max(len(split), 1)
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
        self._vectors = _unit_vectors(documents, embed) if documents else []

    def top(self, query: str, k: int) -> list[int]:
        """The closest documents; those that are as close stand in their order."""
        if not self._vectors:
            return []
        (asked,) = _unit_vectors([query], self._embed)
        if len(asked) != len(self._vectors[0]):
            raise NoVectors(f"embeddings of {len(self._vectors[0])} numbers, and then one of {len(asked)}")
        near = [sum(map(mul, asked, vector)) for vector in self._vectors]
        return sorted(range(len(near)), key=lambda place: -near[place])[:k]


def sentence_transformer(name: str) -> Embed:
    """Embed with a model that the library sentence-transformers loads. OSError where it cannot be loaded."""
    model = import_module("sentence_transformers").SentenceTransformer(name)
    return lambda texts: model.encode(list(texts), show_progress_bar=False).tolist()


def _unit_vectors(texts: Sequence[str], embed: Embed) -> list[Vector]:
    given = embed(texts)
    try:
        units = [_unit_vector([float(each) for each in vector]) for vector in given]
    except (TypeError, ValueError, OverflowError):
        raise NoVectors("something else than a list of numbers for each text") from None
    if len(units) != len(texts):
        raise NoVectors(f"{len(units)} of {len(texts)} embeddings")
    if not all(math.isfinite(each) for unit in units for each in unit):
        raise NoVectors("embeddings with numbers that are none, or are infinite")
    if len({len(unit) for unit in units}) > 1:
        raise NoVectors("embeddings of different lengths")
    return units


def _unit_vector(vector: Vector) -> Vector:
    length = math.hypot(*vector) or 1.0
    return [each / length for each in vector]


class Oracle:
    """Gives the documents that are right, then the others in their order."""

    def __init__(self, right: Sequence[int], count: int) -> None:
        self._ranked = list(dict.fromkeys((*right, *range(count))))

    def top(self, query: str, k: int) -> list[int]:  # noqa: ARG002  it knows without being asked
        """The same, whatever the question."""
        return self._ranked[:k]


def tool_document(tool: Tool) -> str:
    """A tool as a document: its name, what it does, its parameters."""
    return f"{tool.name}\n{tool.description}\n{canonical(tool.parameters.get('properties', {}))}"


def case_question(case: Case) -> str:
    """What the user says first, in words."""
    said = [message for message in case.turns[0].messages if message.get("role") == "user"]
    return "\n".join(text for message in said for text in _message_texts(message))


def choose_tools(case: Case, retriever: Retriever, k: int) -> tuple[Tool, ...]:
    """The `k` tools of a case that suit its question best, the best first."""
    return tuple(case.tools[place] for place in retriever.top(case_question(case), k))


def expected_tools(case: Case) -> tuple[str, ...]:
    """The tools that a right answer calls, by name; of several right answers, those of the first."""
    found = (name for turn in case.turns if turn.expect is not None for name in _expected_names(turn.expect))
    return tuple(dict.fromkeys(found))


def missed_tools(case: Case, offered: Sequence[Tool]) -> tuple[str, ...]:
    """The expected tools that were not offered: where there are any, it is no fault of the model's.

    With alternatives, there are none if all tools of one of them were offered.
    """
    names = {tool.name for tool in offered}
    found = (name for turn in case.turns if turn.expect is not None for name in _missed_names(turn.expect, names))
    return tuple(dict.fromkeys(found))


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

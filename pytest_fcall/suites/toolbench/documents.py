"""The documents in prompts: how many, and rankings by embeddings, which are found once for all models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import Final, Literal, TypeAlias

from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.files import replace_file
from pytest_fcall.core.values import Json
from pytest_fcall.retrieval import Embed, NoVectors, Retriever, Vector, plain_vectors
from pytest_fcall.suites.json_files import BrokenRow, is_strings, read_rows, text_field
from pytest_fcall.suites.toolbench.files import TASKS, TaskFiles

Kind: TypeAlias = Literal["functions", "examples"]

RANKINGS_FILE: Final = "dense.jsonl"
"""Beside `test.jsonl`: `{"prompt": TEXT, "functions": [NAME, …], "examples": [NAME, …]}`, the best files first."""
_MOST_RANKED: Final = 100
_AT_ONCE: Final = 100
"""The number of texts in one call, which APIs limit."""


@dataclass(frozen=True, slots=True)
class Documents:
    """The number of documents in a prompt, the best ones for its question."""

    apis: int
    examples: int


def parse_documents(text: str) -> tuple[str, Documents]:
    """Parse `TASK=APIS,EXAMPLES`; the task may be a glob. Raises ValueError."""
    task, _, numbers = (part.strip() for part in text.partition("="))
    counts = [number.strip() for number in numbers.split(",")]
    if not task or len(counts) != 2 or not all(each.isdecimal() and len(each) <= 4 for each in counts):
        raise ValueError(f"expected TASK=APIS,EXAMPLES, such as home_search=10,3 or *=5,0; got {text!r:.80}")
    if not any(glob_matches(task, name) for name in TASKS):
        raise ValueError(f"no task of ToolBench is called {task!r:.80}; available: {', '.join(TASKS)}")
    return task, Documents(*map(int, counts))


def write_rankings(folder: Path, embed: Embed) -> Path:
    """Rank the documents of a task, a folder with `test.jsonl`, for each of its questions. Returns the path.

    As in the original, the scalar product of vectors decides. Errors of `embed` rise. Raises OSError for files, and
    ValueError for data and for invalid vectors.
    """
    files = TaskFiles(folder)
    queries = list(dict.fromkeys(text_field(row.record, "prompt") for row in files.rows))
    documents = {"functions": files.functions, "examples": files.examples}
    texts = list(dict.fromkeys((*queries, *(text for own in documents.values() for text in own.values()))))
    vectors = dict(zip(texts, _vectors(texts, embed), strict=True))
    if len({len(vector) for vector in vectors.values()}) > 1:
        raise NoVectors("embeddings of different lengths")
    path = folder / RANKINGS_FILE
    ranked = ({kind: _ranked(query, own, vectors) for kind, own in documents.items()} for query in queries)
    rows = ({"prompt": query, **names} for query, names in zip(queries, ranked, strict=True))
    replace_file(path, (f"{json.dumps(row)}\n".encode() for row in rows))
    return path


def _vectors(texts: Sequence[str], embed: Embed) -> Iterator[Vector]:
    for start in range(0, len(texts), _AT_ONCE):
        yield from plain_vectors(texts[start : start + _AT_ONCE], embed)


def _ranked(query: str, documents: Mapping[str, str], vectors: Mapping[str, Vector]) -> list[str]:
    likeness = {name: sum(map(mul, vectors[query], vectors[text])) for name, text in documents.items()}
    return sorted(likeness, key=lambda name: -likeness[name])[:_MOST_RANKED]


@dataclass(frozen=True, slots=True)
class Rankings:
    """The rankings of a task, by question."""

    rows: Mapping[str, Mapping[str, Json]]

    def retriever(self, kind: Kind, documents: Mapping[str, str]) -> Retriever:
        """Return a retriever by these rankings, of documents in their order."""
        return _Ranked(self.rows, kind, {name: place for place, name in enumerate(documents)})


def read_rankings(folder: Path) -> Rankings:
    """Read the rankings of a task. Raises OSError, or ValueError with the way to make them."""
    path = folder / RANKINGS_FILE
    if not path.is_file():
        raise ValueError(f"no {path}: write it with pytest_fcall.suites.toolbench.dense.write_rankings")
    rows = {}
    for row in read_rows(path):
        try:
            rows[text_field(row.record, "prompt")] = row.record
        except BrokenRow as error:
            raise ValueError(f"{path}:{row.location.line}: {error}") from None
    return Rankings(rows)


@dataclass(frozen=True, slots=True)
class _Ranked:
    rows: Mapping[str, Mapping[str, Json]]
    kind: Kind
    places: Mapping[str, int]

    def top(self, query: str, k: int) -> list[int]:
        """Return the places of the best documents. Raises BrokenRow for a question or a document that is new."""
        names = self.rows.get(query, {}).get(self.kind)
        if not is_strings(names) or not {*names} <= self.places.keys() or len(names) < min(k, len(self.places)):
            raise BrokenRow(f"{RANKINGS_FILE} does not rank the {self.kind} of today for this question: write it anew")
        return [self.places[name] for name in names[:k]]

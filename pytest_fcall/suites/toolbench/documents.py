"""The documents in prompts: how many, rankings by embeddings, which are found once for all models, and the prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import Final, Literal, TypeAlias

from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.commands import install_command
from pytest_fcall.core.files import replace_file
from pytest_fcall.core.values import Json, is_strings
from pytest_fcall.retrieval import Embed, NoVectors, OkapiBm25, Retriever, Vector, plain_vectors
from pytest_fcall.suites.json_files import BrokenRow, read_rows, text_field
from pytest_fcall.suites.toolbench.files import TASKS, TaskFiles, ToolBenchTask

DocumentKind: TypeAlias = Literal["functions", "examples"]

RANKINGS_FILE: Final = "dense.jsonl"
"""Beside `test.jsonl`: `{"prompt": TEXT, "functions": [NAME, …], "examples": [NAME, …]}`, the best files first."""
_MOST_RANKED: Final = 100
_AT_ONCE: Final = 100
"""The number of texts in one call, which APIs limit."""
_WORD: Final = re.compile(r"\b\w\w+\b")
"""The words of documents and questions, as in the original's library, Haystack."""


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

    def retriever(self, kind: DocumentKind, documents: Mapping[str, str]) -> Retriever:
        """Return a retriever by these rankings, of documents in their order."""
        return _Ranked(self.rows, kind, {name: place for place, name in enumerate(documents)})


def read_rankings(folder: Path) -> Rankings:
    """Read the rankings of a task. Raises OSError, or ValueError with the way to make them."""
    path = folder / RANKINGS_FILE
    if not path.is_file():
        raise ValueError(f"no {path}: write it with pytest_fcall.suites.toolbench.documents.write_rankings")
    rows = {}
    for row in read_rows(path):
        try:
            rows[text_field(row.record, "prompt")] = row.record
        except BrokenRow as error:
            raise ValueError(f"{path}:{row.location.line}: {error}") from None
    return Rankings(rows)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Documents of one kind in the order that a file of rankings gives for each question."""

    rows: Mapping[str, Mapping[str, Json]]
    kind: DocumentKind
    places: Mapping[str, int]

    def top(self, query: str, k: int) -> list[int]:
        """Return the places of the best documents. Raises BrokenRow for a question or a document that is new."""
        names = self.rows.get(query, {}).get(self.kind)
        if not is_strings(names) or not {*names} <= self.places.keys() or len(names) < min(k, len(self.places)):
            raise BrokenRow(f"{RANKINGS_FILE} does not rank the {self.kind} of today for this question: rewrite it")
        return [self.places[name] for name in names[:k]]


class TaskPrompts:
    """Makes the prompts of one task; its documents are indexed once. `dense` are rankings by embeddings."""

    def __init__(self, task: ToolBenchTask, files: TaskFiles, documents: Documents, dense: Rankings | None) -> None:
        self._task = task
        apis, examples = files.functions, files.examples
        self._blocks = [
            _block("API", apis, documents.apis, dense.retriever("functions", apis) if dense else None),
            _block("examples", examples, documents.examples, dense.retriever("examples", examples) if dense else None),
        ]

    def prompt(self, query: str) -> str:
        """Return the prompt of a question. Raises BrokenRow for one without a ranking."""
        if self._task.kind == "scene":
            return query
        blocks = ("" if block is None else block.text_for(query) for block in self._blocks)
        return "\n".join((*blocks, f"Task: {query}", "Action:", ""))


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of the best `k` documents for a question."""

    title: str
    k: int
    texts: Sequence[str]
    retriever: Retriever

    def text_for(self, query: str) -> str:
        best = (self.texts[place] for place in self.retriever.top(query, self.k))
        return "\n".join((f"I have the following set of {self.title}:\n", *best, "-------------"))


def _block(title: str, documents: Mapping[str, str], k: int, ranked: Retriever | None) -> _Block | None:
    """A block by a ranking, or by BM25; None where there is nothing to put into it."""
    if not k or not documents:
        return None
    # Of equally good documents, the original takes the last one first.
    texts = [*documents.values()] if ranked else [*documents.values()][::-1]
    return _Block(title, k, texts, ranked or _bm25(texts))


def _bm25(documents: Sequence[str]) -> OkapiBm25:
    try:
        return OkapiBm25(documents, lambda text: _WORD.findall(text.lower()))
    except ImportError as error:
        raise ValueError(
            f"the prompts of ToolBench need a library that cannot be imported ({error}): {install_command('retrieval')}"
        ) from None

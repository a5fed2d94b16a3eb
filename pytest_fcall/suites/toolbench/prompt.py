"""The prompts: function documents and demonstrations that suit the question, and the question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_fcall.core.commands import install_command
from pytest_fcall.retrieval import OkapiBm25, Retriever
from pytest_fcall.suites.toolbench.documents import Documents, Rankings
from pytest_fcall.suites.toolbench.files import Task, TaskFiles

STOP_TEXTS: Final = ("------", "Task:")
"""The end of an answer. Models that go on begin another question."""
_WORD: Final = re.compile(r"\b\w\w+\b")
"""The words of documents and questions, as in the original's library, Haystack."""
_FENCED: Final = re.compile(r"\s*```[\w-]*\n(?P<inside>.*?)\n?```\s*", re.DOTALL)


class Prompts:
    """Makes the prompts of one task; its documents are indexed once. `dense` are rankings by embeddings."""

    def __init__(self, task: Task, files: TaskFiles, documents: Documents, dense: Rankings | None) -> None:
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


def clean_answer(text: str, *, unfenced: bool) -> str:
    """Return an answer up to its end; `unfenced` also removes the fence around a program."""
    if unfenced and (fenced := _FENCED.fullmatch(text)):
        text = fenced["inside"]
    ends = [index for stop in STOP_TEXTS if (index := text.find(stop)) >= 0]
    return text[: min(ends, default=len(text))].strip()


def _bm25(documents: Sequence[str]) -> OkapiBm25:
    try:
        return OkapiBm25(documents, lambda text: _WORD.findall(text.lower()))
    except ImportError as error:
        raise ValueError(
            f"the prompts of ToolBench need a library that cannot be imported ({error}): {install_command('retrieval')}"
        ) from None

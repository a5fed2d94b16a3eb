"""The prompts: function documents and demonstrations that suit the question, and the question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pytest_fcall.retrieval import OkapiBm25
from pytest_fcall.suites.toolbench.files import Task, TaskFiles

STOP_TEXTS: Final = ("------", "Task:")
"""The end of an answer. Models that go on begin another question."""
_WORD: Final = re.compile(r"\b\w\w+\b")
"""The words of documents and questions, as in the original's library, Haystack."""
_FENCED: Final = re.compile(r"\s*```[\w-]*\n(?P<inside>.*?)\n?```\s*", re.DOTALL)


class Prompts:
    """Makes the prompts of one task; its documents are indexed once."""

    def __init__(self, task: Task, files: TaskFiles) -> None:
        self._task = task
        self._blocks = [
            _Block("API", files.functions, task.apis),
            _Block("examples", files.examples, task.examples),
        ]

    def prompt(self, query: str) -> str:
        """Return the prompt of a question."""
        if self._task.kind == "scene":
            return query
        return "\n".join((*(block.text_for(query) for block in self._blocks), f"Task: {query}", "Action:", ""))


class _Block:
    """A block of the best `k` documents for a question; empty if `k` is 0."""

    def __init__(self, name: str, documents: Sequence[str], k: int) -> None:
        self._name = name
        # Of equally good documents, the original takes the last one first.
        self._documents = documents[::-1] if k else ()
        self._k = k
        self._retriever = _retriever(self._documents) if self._documents else None

    def text_for(self, query: str) -> str:
        if self._retriever is None:
            return ""
        best = (self._documents[index] for index in self._retriever.top(query, self._k))
        return "\n".join((f"I have the following set of {self._name}:\n", *best, "-------------"))


def clean_answer(text: str, *, unfenced: bool) -> str:
    """Return an answer up to its end; `unfenced` also removes the fence around a program."""
    if unfenced and (fenced := _FENCED.fullmatch(text)):
        text = fenced["inside"]
    ends = [index for stop in STOP_TEXTS if (index := text.find(stop)) >= 0]
    return text[: min(ends, default=len(text))].strip()


def _retriever(documents: Sequence[str]) -> OkapiBm25:
    try:
        return OkapiBm25(documents, lambda text: _WORD.findall(text.lower()))
    except ImportError as error:
        raise ValueError(
            f"the prompts of ToolBench need a library that cannot be imported ({error}): "
            "pip install 'pytest-fcall[retrieval]'"
        ) from None

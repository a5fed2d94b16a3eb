"""Putting questions to ACEBench's own code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pytest_fcall.suites.acebench.categories import QuestionCategory
from pytest_fcall.suites.acebench.files import AceBenchQuestion, read_questions

CHECKOUT = Path(os.environ.get("FCALL_ACEBENCH") or "no-acebench").absolute()
"""A checkout of https://github.com/chenchen0103/ACEBench, which is not ours to pass on."""


class AceProcess:
    """A process with the original's code, as long as the `with` block lasts."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-W", "ignore", Path(__file__).with_name("acebench.py")],
            cwd=CHECKOUT,
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()

    def ask(self, what: str, **given: Any) -> Any:
        """Ask one question."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"ask": what, **given}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def evaluate(
        self, category: QuestionCategory, answers: Sequence[tuple[AceBenchQuestion, Any]], steps: Sequence[Any] = ()
    ) -> Any:
        """What the original says of a file of results."""
        results, questions, truths = [], [], []
        for number, (question, answer) in enumerate(answers):
            id_ = question.id.partition("_")[2]
            results.append({"id": id_, "result": answer, "process": steps[number] if steps else []})
            questions.append({"id": id_, "question": question.text, "function": [*map(dict, question.functions)]})
            truths.append({"id": id_, "ground_truth": question.truth, "mile_stone": question.milestones})
        return self.ask("evaluate", category=category.name, results=results, questions=questions, truths=truths)

    def error_type(self, category: QuestionCategory, question: AceBenchQuestion, answer: Any) -> str | None:
        """The error type of an answer; None where it counts as right, though the wrong rows list it at times."""
        told = self.evaluate(category, [(question, answer)])
        if "crash" in told:
            return f"case_error:{told['crash']}"
        return None if told["correct_count"] else str(told["wrong"][0][1])


def all_questions(language: str, category: QuestionCategory) -> list[AceBenchQuestion]:
    """The questions of a category, all of which can be read."""
    return [each for each in read_questions(language, category, CHECKOUT) if isinstance(each, AceBenchQuestion)]

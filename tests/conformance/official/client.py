"""Putting questions to the official checker."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

ROOT = Path(__file__).parents[3]
PYTHON = ROOT / ".venv-official" / "bin" / "python"
"""Of the official environment, which `make conformance` makes."""

Style: TypeAlias = Literal["prompt", "fc", "calls"]
Format: TypeAlias = Literal["python", "json", "verbose_xml", "concise_xml"]


@dataclass(frozen=True, slots=True)
class Question:
    """An answer of a model with the case that it answers. With the style `calls`, `raw` is decoded already."""

    category: str
    functions: Sequence[Mapping[str, Any]]
    truth: Sequence[Any]
    style: Style
    raw: Any
    underscored: bool = False
    format: Format | None = None
    """Where a case asks for a format of its own; else the language of the category decides."""
    tags: bool = False
    entry: Mapping[str, Any] | None = None
    """Of a conversation: the row of the case."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a judge says. `decoded` is the repr of the decoded calls, which tells 1, 1.0 and True apart, or None."""

    decoded: str | None
    valid: bool
    error_type: str | None


class OfficialJudge:
    """A process of the official environment, as long as the `with` block lasts."""

    def __init__(self, python: Path = PYTHON) -> None:
        self._python = python
        self.asked = 0

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [self._python, "-m", "tests.conformance.official.judge"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()

    def answer(self, question: Question) -> Answer:
        """Ask one question."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(question)) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        self.asked += 1
        return Answer(**json.loads(line))

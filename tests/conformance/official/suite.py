"""The cases that come with the official package: every single-turn one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.official.client import PYTHON

CATEGORIES = (
    "simple_python",
    "simple_java",
    "simple_javascript",
    "multiple",
    "parallel",
    "parallel_multiple",
    "irrelevance",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "live_irrelevance",
    "live_relevance",
)


@dataclass(frozen=True, slots=True)
class OfficialCase:
    """A case as its files have it. Those of the relevance family have no truth."""

    id: str
    category: str
    functions: Sequence[Mapping[str, Any]]
    truth: Sequence[Mapping[str, Any]]


class Suite(tuple[OfficialCase, ...]):
    """Cases. Told in short where they are told: Hypothesis does so often."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self)} cases>"


def read_suite(python: Path = PYTHON) -> Suite:
    """Read all cases out of the environment of this Python."""
    (data,) = python.parent.parent.glob("lib/python3*/site-packages/bfcl_eval/data")
    return Suite(case for category in CATEGORIES for case in _of_category(data, category))


def _of_category(data: Path, category: str) -> Iterator[OfficialCase]:
    answers = data / "possible_answer" / f"BFCL_v4_{category}.json"
    truths = {row["id"]: row["ground_truth"] for row in _rows(answers)} if answers.exists() else {}
    for row in _rows(data / f"BFCL_v4_{category}.json"):
        yield OfficialCase(row["id"], category, row["function"], truths.get(row["id"], ()))


def _rows(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)

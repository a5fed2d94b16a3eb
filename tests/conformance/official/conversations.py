"""The conversations that come with the official package."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.conformance.generated.trajectories import Conversation
from tests.conformance.official.client import ROOT

CATEGORIES = ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")
PACKAGES = next((ROOT / ".venv-official").glob("lib/python3*/site-packages"), Path())
DATA = PACKAGES / "bfcl_eval" / "data"


def read_conversations() -> Sequence[Conversation]:
    """Read all of them, category by category."""
    order = _order()
    return [each for category in CATEGORIES for each in _of_category(category, order)]


def _of_category(category: str, order: Mapping[str, Sequence[str]]) -> Iterator[Conversation]:
    rows = _rows(DATA / f"BFCL_v4_{category}.json")
    truths = _rows(DATA / "possible_answer" / f"BFCL_v4_{category}.json")
    for row, truth in zip(rows, truths, strict=True):
        assert row["id"] == truth["id"]
        yield Conversation({**row, "category": category}, truth["ground_truth"], order)


def _order() -> Mapping[str, Sequence[str]]:
    """The names of the arguments of every function, in order: right calls give some by place."""
    files = sorted((DATA / "multi_turn_func_doc").glob("*.json"))
    return {tool["name"]: list(tool["parameters"]["properties"]) for file in files for tool in _rows(file)}


def _rows(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)

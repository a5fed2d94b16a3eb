"""What models are told in conversations is what the official harness tells them, turn by turn."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import pytest

from pytest_fcall.core import Case, FaultyCase
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.conformance.official.client import PYTHON, ROOT
from tests.conformance.official.conversations import CATEGORIES, DATA, PACKAGES

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="the official harness is not installed: make conformance")


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(PACKAGES)])


MEMORIES = ("memory_kv", "memory_vector", "memory_rec_sum")


@pytest.mark.parametrize("category", [*CATEGORIES, "web_search_base", "web_search_no_snippet", *MEMORIES])
def test_prompts_are_those_of_the_harness(category: str) -> None:
    official = {each["id"]: each for each in told(category)}
    prompted = all_of(BfclSuite().prompted(category, DATA))
    assert prompted.keys() == official.keys()
    for id_, expected in official.items():
        assert [[*turn.messages] for turn in prompted[id_].turns] == expected["prompted"]


def all_of(cases: Iterable[Case | FaultyCase]) -> dict[str, Case]:
    """The cases by their ids, with those that are held before them."""
    found: dict[str, Case] = {}
    for case in cases:
        assert isinstance(case, Case)
        before = case.earlier.cases if case.earlier else ()
        found |= {each.id: each for each in (*before, case)}
    return found


def told(category: str) -> list[dict[str, Any]]:
    command = [str(PYTHON), "-m", "tests.conformance.official.told_turns", category]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in answer.stdout.splitlines()]

"""The leaderboard, run by pytest on the answers of real models: the verdicts are the official ones, row by row."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.by_night import is_night
from tests.conformance.conftest import Held
from tests.conformance.corpus import CASES, write_exam
from tests.integration.command import run_pytest

MODELS = ("openai_gpt-oss-120b@v0.10.2", "firefunction-v2-FC", "gpt-4o-2024-08-06")
"""One that must write `_` for dots, one that need not, and one that is told of its tools in the prompt."""

pytestmark = pytest.mark.skipif(not CASES.is_file(), reason="FCALL_CORPUS names no folder with the corpus of answers")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("model", MODELS if is_night(metafunc.config) else MODELS[:1])


def test_a_run_gives_the_official_verdicts_and_accuracies(tmp_path: Path, model: str, every: int, held: Held) -> None:
    answered = write_exam(tmp_path, model, every)
    done = run_pytest(tmp_path, "-q", "--tb=no", "--fc-model=python:conftest:answer")
    assert done.returncode == 1, done.stdout[-2_000:] + done.stderr
    ours = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
    official = [[row["category"], row["id"], row["valid"], row["error_type"]] for row in answered]
    assert len(official) > 1_000 / every
    assert sorted(ours) == sorted(official)
    assert right(ours) == right(official)
    held("BFCL", "verdicts and accuracies of a run of pytest", "official verdicts on three models", len(official))


def right(verdicts: list[list[object]]) -> Counter[object]:
    return Counter(category for category, _, valid, _ in verdicts if valid)

"""Logged runs and small cases, with what the original evaluators of Mannheim and ToolBench say of them.

The rows are not ours to pass on: FCALL_CORPUS names a folder that holds them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.integration.command import fcall

CORPUS = Path(os.environ.get("FCALL_CORPUS") or "no-corpus").absolute()

pytestmark = pytest.mark.skipif(
    not (CORPUS / "mannheim_cases.jsonl").is_file(), reason="FCALL_CORPUS names no folder with the corpus of answers"
)


@pytest.mark.parametrize(
    ("name", "files", "fields"),
    [
        ("mannheim", ["mannheim_cases.jsonl", "mannheim_verdicts.jsonl.gz"], 7),
        ("toolbench", ["toolbench_cases.jsonl"], 6),
    ],
)
def test_every_score_is_that_of_the_original_evaluator(name: str, files: list[str], fields: int) -> None:
    done = fcall(CORPUS, "score", "--format", name, "--compare", *files)
    assert done.returncode == 0, done.stderr
    counts = re.findall(r"^\w+: ([\d,]+) of ([\d,]+) as the rows have it$", done.stderr, re.MULTILINE)
    assert len(counts) == fields
    assert all(same == compared != "0" for same, compared in counts)

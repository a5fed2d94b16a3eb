"""The official harness reads the files that `--fc-report=bfcl:DIR` writes."""

from __future__ import annotations

import ast
import os
import subprocess
from pathlib import Path

import pytest

from tests.bfcl_data import write_leaderboard
from tests.conformance.official.client import PYTHON, ROOT
from tests.integration.command import run_pytest

APP = """
def answer(request):
    return [{"name": "sail", "arguments": {"port": "Oslo"}}]
"""

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="`make conformance` makes the official environment")


def test_the_official_command_shows_our_scores(tmp_path: Path) -> None:
    write_leaderboard(tmp_path / "data")
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    parts = ("--fc-suite=bfcl:simple_python,irrelevance", "--fc-suite-path=data", "--fc-report=bfcl:out")
    run_pytest(tmp_path, "-q", "--fc-model=python:app:answer", *parts)
    shown = subprocess.run(
        [PYTHON, "-m", "tests.conformance.official.leaderboard"],
        cwd=ROOT,
        env=os.environ | {"BFCL_PROJECT_ROOT": str(tmp_path / "out")},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    table = ast.literal_eval(shown.stdout)
    (row,) = table["rows"]
    told = dict(zip(table["headers"], row, strict=True))
    assert told["Model"] == "app:answer-FC"
    assert told["Overall Acc"] == "0.21%"
    assert told["Non-Live Exec Acc"] == "N/A"

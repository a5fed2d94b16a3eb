"""Small cases of ToolBench, run as a suite: the scores are those of the original evaluators.

The rows are not ours to pass on: FCALL_CORPUS names a folder that holds them.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Calls, Case, Reply
from pytest_fcall.suites.json_files import open_lines
from pytest_fcall.suites.toolbench.suite import ToolBenchSuite

ROWS = Path(os.environ.get("FCALL_CORPUS") or "no-corpus").absolute() / "toolbench_cases.jsonl"
NAMES = {"state_f1": "f1", "state_precision": "precision", "state_recall": "recall", "lcs": "lcs_score"}

pytestmark = pytest.mark.skipif(not ROWS.is_file(), reason="FCALL_CORPUS names no folder with the cases of ToolBench")


@pytest.mark.parametrize("task", ["home_search", "booking", "virtual_home"])
def test_a_task_is_scored_as_the_original_scores_it(tmp_path: Path, task: str) -> None:
    rows = _rows(task)
    folder = tmp_path / task / "v0"
    folder.mkdir(parents=True)
    lines = (json.dumps({"prompt": "?", "completion": row["labels"]}) for row in rows)
    (folder / "test.jsonl").write_text("\n".join(lines))
    cases = [case for case in ToolBenchSuite().cases(task, tmp_path) if isinstance(case, Case)]
    for case, row in zip(cases, rows, strict=True):
        original = replace(case, rules=case.rules._replace(profile="original"))
        assert original.judge is not None
        verdict = original.judge(original, Reply(row["prediction"]), Calls())
        assert verdict.scores["executability"] == (float(not row["result"]["crashed"]), 1.0), row["case"]
        for ours, theirs in NAMES.items():
            if ours in verdict.scores:
                assert verdict.scores[ours] == pytest.approx((row["result"][theirs], 1.0)), row["case"]
        if row["result"]["success"] is not None:
            assert verdict.valid is row["result"]["success"], row["case"]


def _rows(task: str) -> list[dict[str, Any]]:
    with open_lines(ROWS) as stream:
        rows = [json.loads(line) for line in stream]
    return [row for row in rows if row["task"] == task and row["prediction"] is not None]

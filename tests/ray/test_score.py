"""`fcall score --engine=ray`: the same bytes as in one process."""

from __future__ import annotations

import json
from pathlib import Path

from ray.cluster_utils import Cluster

from tests.ray.conftest import python
from tests.unit.suites.bfcl.rows import case_row, decoded, forecast, prompt


def test_a_cluster_judges_as_one_process_does(tmp_path: Path, shared_cluster: Cluster) -> None:
    cases = [case_row(forecast(city=["Oslo"])), case_row(category="irrelevance")]
    right = {"category": "simple_python", "id": "simple_python_0", **decoded(forecast(city="Oslo"))}
    wrong = {"category": "simple_python", "id": "simple_python_0", **decoded(forecast(city="Rome"))}
    silent = {"category": "irrelevance", "id": "irrelevance_0", **prompt("Nothing fits.")}
    rows = [right, wrong, silent] * 2000 + [{"category": "simple_python"}]
    (tmp_path / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in cases), "utf-8")
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    given = ["-m", "pytest_fcall.cli", "score", "--format=bfcl", "--cases=cases.jsonl", "--totals", "rows.jsonl"]
    alone = python(tmp_path, *given)
    cluster = python(tmp_path, *given, "--engine=ray", f"--address={shared_cluster.address}")
    assert alone.returncode == cluster.returncode == 1, cluster.stderr
    assert cluster.stdout == alone.stdout
    assert [line for line in cluster.stderr.splitlines() if "logging.cc" not in line] == alone.stderr.splitlines()


def test_a_cluster_judges_answers_to_own_cases_as_one_process_does(tmp_path: Path, shared_cluster: Cluster) -> None:
    (tmp_path / "conftest.py").write_text(
        "def loud(operand, options, got):\n    return None if got.isupper() else 'quiet'\n\n\n"
        "def pytest_fcall_comparators():\n    return {'loud': loud}\n",
        "utf-8",
    )
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "a.fc.yaml").write_text("cases: [{id: a, prompt: Hi, answer: {$loud: true}}]", "utf-8")
    replies = ["HELLO", "Hello", 7]
    rows = [{"id": "a" if number % 10 else "b", "reply": replies[number % 3]} for number in range(5000)]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    given = ["-m", "pytest_fcall.cli", "score", "--cases=cases", "--format=json", "rows.jsonl"]
    alone = python(tmp_path, *given)
    cluster = python(tmp_path, *given, "--engine=ray", f"--address={shared_cluster.address}")
    assert alone.returncode == cluster.returncode == 1, cluster.stderr
    assert len(alone.stdout.splitlines()) == 5000
    assert cluster.stdout == alone.stdout
    assert [line for line in cluster.stderr.splitlines() if "logging.cc" not in line] == alone.stderr.splitlines()

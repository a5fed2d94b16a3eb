"""`fcall score --format nestful`: stored answers are scored as the original does, and as in a run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.integration.command import fcall, run_pytest
from tests.unit.suites.nestful.data import RIGHT, ROW, write

SAID = {"a": json.dumps(RIGHT), "b": json.dumps(RIGHT[:1]), "c": "20"}
APP = """
import json
from dataclasses import replace
from pathlib import Path

SAID = json.loads(Path("said.json").read_text(encoding="utf-8"))


def pytest_fcall_request(case, request):
    return replace(request, settings={"case": case.id})


def answer(request):
    return SAID[request.settings["case"]]
"""


def write_rows(folder: Path, *rows: Any) -> None:
    (folder / "output.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def score(folder: Path, *options: str) -> tuple[list[dict[str, Any]], list[str], int]:
    done = fcall(folder, "score", "--format", "nestful", *options, "output.jsonl")
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.splitlines(), done.returncode


def test_results_have_the_originals_scores_and_a_run_has_those_that_add_up(tmp_path: Path) -> None:
    write_rows(
        tmp_path,
        *[{"sample_id": id_, "output": json.dumps(RIGHT), "generated_text": said} for id_, said in SAID.items()],
    )
    judged, told, status = score(tmp_path, "--totals")
    assert status == 0
    assert judged == [
        {"sample_id": "a", "valid": True, "partial_match": 1.0, "readable": True},
        {"sample_id": "b", "valid": False, "partial_match": 0.5, "readable": True},
        {"sample_id": "c", "valid": False, "partial_match": 0.0, "readable": False},
    ]
    assert dict(re.split(r"  +", line.strip()) for line in told) == {
        "NESTFUL": "score",
        "Total Samples": "3",
        "Parsing Errors": "1",
        "F1 Intent": "0.650",
        "F1 Slot": "0.650",
        "Partial Match Accuracy": "0.500",
        "Full Match Accuracy": "0.333",
    }
    write(tmp_path / "nest", *[{**ROW, "sample_id": id_} for id_ in SAID])
    (tmp_path / "said.json").write_text(json.dumps(SAID), encoding="utf-8")
    (tmp_path / "conftest.py").write_text(APP, encoding="utf-8")
    run = run_pytest(tmp_path, "--fc-suite=nestful", "--fc-suite-path=nest", "--fc-model=python:conftest:answer").stdout
    assert "2 failed, 1 passed" in run
    for name, share in {"partial_match": "0.5000", "full_match": "0.3333", "parsing_errors": "0.3333"}.items():
        assert re.search(rf"{name} +3 +{share}$", run, re.MULTILINE), run


def test_a_row_that_cannot_be_scored_says_why_and_the_reader_is_chosen(tmp_path: Path) -> None:
    text = f"<|tool_call|>{SAID['a']}"
    write_rows(tmp_path, {"output": RIGHT, "generated_text": text}, {"generated_text": ""}, {"output": "[]"})
    judged, _, status = score(tmp_path, "--decoder", "granite")
    assert status == 1
    assert judged[0]["valid"]
    assert "output.jsonl:2" in judged[1]["error"]
    assert "`output` must be a list of" in judged[1]["error"]
    assert "`generated_text` must be a string" in judged[2]["error"]
    (plain, *_), _, _ = score(tmp_path)
    assert not plain["readable"]

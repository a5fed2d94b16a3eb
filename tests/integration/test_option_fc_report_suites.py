"""`--fc-report=bfcl:DIR`: the files of the leaderboard's own harness."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.by_night import by_night
from tests.integration.conftest import Shop
from tests.integration.test_option_fc_suite import sail, sea, suite

__all__ = ["sea"]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_results_and_scores_lie_as_the_harness_lays_them(sea: Shop, workers: str) -> None:
    sail(sea, *suite("simple_python", "irrelevance"), "--fc-report=bfcl:out", workers, app="landlubber")
    out = sea.pytester.path / "out"
    results = rows(out / "result/sailor_landlubber-FC/non_live/BFCL_v4_simple_python_result.json")
    assert [row["id"] for row in results] == [f"simple_python_{n}" for n in range(4)]
    assert results[0]["result"] == [{"sail": '{"port": "Oslo", "crew": 0}'}]
    assert set(results[0]) == {"id", "result", "input_token_count", "output_token_count", "latency"}
    head, *wrong = rows(out / "score/sailor_landlubber-FC/non_live/BFCL_v4_simple_python_score.json")
    assert head == {"accuracy": 0.25, "correct_count": 1, "total_count": 4}
    assert [(row["id"], row["error_type"]) for row in wrong] == [
        (f"simple_python_{n}", "value_error:string") for n in (1, 2, 3)
    ]
    assert wrong[0]["possible_answer"] == [{"sail": {"port": ["Bergen"], "crew": [1, ""]}}]


def test_the_table_has_a_line_for_each_model_the_best_first(sea: Shop) -> None:
    more = "--fc-model=python:sailor:landlubber"
    sail(sea, *suite("simple_python", "irrelevance"), "--fc-report=bfcl:out", more)
    with (sea.pytester.path / "out/score/data_overall.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [(line["Rank"], line["Model"], line["Overall Acc"]) for line in table] == [
        ("1", "sailor:native-FC", "5.83%"),
        ("2", "sailor:landlubber-FC", "0.21%"),
    ]
    assert table[0]["Non-Live AST Acc"] == "N/A"


def test_answers_in_words_are_kept_as_they_are(sea: Shop) -> None:
    sail(sea, *suite("irrelevance"), "--fc-report=bfcl:out")
    (row,) = rows(sea.pytester.path / "out/result/sailor_native-FC/non_live/BFCL_v4_irrelevance_result.json")
    assert row["result"] == "I do not know."


@pytest.mark.parametrize(
    ("report", "line"),
    [
        ("mannheim:out", "ERROR: --fc-report: 'mannheim' has no files of its own; bfcl has"),
        ("bfcl:", "ERROR: --fc-report: bfcl: needs a folder, such as bfcl:out"),
        ("bfcl:sailor.py", "ERROR: --fc-report: nothing can be written to */sailor.py: File exists"),
    ],
)
def test_what_nobody_can_write_is_told_before_anything_runs(sea: Shop, report: str, line: str) -> None:
    result = sail(sea, *suite("irrelevance"), f"--fc-report={report}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([line])


def test_a_file_that_cannot_be_written_in_the_end_is_told(sea: Shop) -> None:
    (sea.pytester.path / "out").mkdir()
    (sea.pytester.path / "out/result").write_text("in the way")
    result = sail(sea, *suite("irrelevance"), "--fc-report=bfcl:out")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["--fc-report: */out is not whole: Not a directory"])


def test_the_shares_of_a_run_add_to_one_folder(sea: Shop) -> None:
    for share in ("1/2", "2/2"):
        sail(sea, *suite("simple_python"), "--fc-report=bfcl:out", f"--fc-shard={share}")
    results = rows(sea.pytester.path / "out/result/sailor_native-FC/non_live/BFCL_v4_simple_python_result.json")
    assert [row["id"] for row in results] == [f"simple_python_{n}" for n in range(4)]

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from tests.by_night import by_night
from tests.integration.command import fcall_here

RUN: dict[str, Json] = {
    "case": "q1",
    "called": ["f"],
    "called_parameters": [{"n": 5}],
    "paths": [[["f"], [{"n": 5, "m": 1}]]],
    "answer": "{'a': 'x'}",
    "expected": {"ordered_items": [], "answer": {"a": "x"}},
}
GRADES: dict[str, Json] = {
    "case": "q1",
    "function": "Correct",
    "argument": "Partially Correct",
    "answer": "Correct",
    "fc": 1,
    "ft": 1,
    "pc": 1,
    "pt": 2,
}
STEPS: dict[str, Json] = {
    "task": "virtual_home",
    "case": "lamp",
    "prediction": "Agent.Find(floor_lamp)",
    "labels": ["Agent.Find(floor_lamp)\nAgent.SwitchOn(floor_lamp)"],
}
SCORES: dict[str, Json] = {
    "task": "virtual_home",
    "case": "lamp",
    "crashed": False,
    "success": None,
    "precision": None,
    "recall": None,
    "f1": None,
    "lcs_score": 0.5,
}


def write(path: Path, *rows: dict[str, Json]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.mark.parametrize(("name", "row", "verdict"), [("mannheim", RUN, GRADES), ("toolbench", STEPS, SCORES)])
def test_rows_are_scored_in_the_order_in_which_they_came(
    tmp_path: Path, name: str, row: dict[str, Json], verdict: dict[str, Json]
) -> None:
    write(tmp_path / "rows.jsonl", *[{**row, "case": str(number)} for number in range(150)])
    done = fcall_here(tmp_path, "score", "--format", name, "-j", "2", "rows.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {**verdict, "case": str(number)} for number in range(150)
    ]


@pytest.mark.parametrize(
    ("name", "row", "verdict", "other"),
    [("mannheim", RUN, GRADES, {"pc": 2}), by_night("toolbench", STEPS, SCORES, {"lcs_score": 1.0})],
)
def test_earlier_scores_are_compared_and_never_looked_at(
    tmp_path: Path, name: str, row: dict[str, Json], verdict: dict[str, Json], other: dict[str, Json]
) -> None:
    earlier = {key: value for key, value in verdict.items() if key not in ("task", "case")}
    write(tmp_path / "rows.jsonl", {**row, "result": earlier}, {**row, "result": {"raises": "TypeError"}}, row)
    done = fcall_here(tmp_path, "score", "--format", name, "--compare", "rows.jsonl")
    assert done.returncode == 0
    assert done.stderr.splitlines() == ["3 rows", *(f"{key}: 1 of 1 agree with the rows" for key in earlier)]
    assert [json.loads(line) for line in done.stdout.splitlines()] == [verdict] * 3
    write(tmp_path / "rows.jsonl", {**row, "result": {**earlier, **other}})
    done = fcall_here(tmp_path, "score", "--format", name, "--compare", "rows.jsonl")
    assert done.returncode == 1
    assert "  rows.jsonl:1: " in done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == [verdict]


@pytest.mark.parametrize(("name", "row"), [("mannheim", RUN), ("toolbench", STEPS)])
def test_a_broken_row_loses_no_other(tmp_path: Path, name: str, row: dict[str, Json]) -> None:
    write(tmp_path / "rows.jsonl", {"case": "half"}, row)
    done = fcall_here(tmp_path, "score", "--format", name, "rows.jsonl")
    assert done.returncode == 1
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["case"] == "half"
    assert first["error"].startswith("rows.jsonl:1: ")
    assert second["case"] == row["case"]


def test_the_tables_of_the_publication_are_printed_at_the_end(tmp_path: Path) -> None:
    told = {"part": "travel_single", "category": "Different Languages"}
    write(tmp_path / "rows.jsonl", {**RUN, **told}, {**RUN, "table": "T4 single", "category": "Languages"}, RUN)
    done = fcall_here(tmp_path, "score", "--format", "mannheim", "--totals", "-j", "2", "rows.jsonl")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [GRADES] * 3
    published, languages, whole, other, *rest = map(str.split, done.stderr.splitlines())
    assert published[:4] == ["table", "4,", "single", "questions"]
    assert languages == ["Languages", "2", *languages[2:]]
    assert languages[3::2] == ["100", "87.5", "75"]
    assert whole[:4] == ["Overall", "2", "of", "97"]
    assert other == ["all", "questions", "function", "parameter", "answer"]
    assert [line[0] for line in rest] == ["other", "Overall"]


def test_the_likely_errors_of_a_run_are_named_where_they_are_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "rows.jsonl", {**RUN, "called": [], "called_parameters": []}, RUN)
    done = fcall_here(tmp_path, "score", "--format", "mannheim", "--errors", "rows.jsonl")
    first, _ = map(json.loads, done.stdout.splitlines())
    assert first["errors"] == ["reliance on previous knowledge"]


def test_objects_of_a_task_come_from_a_file(tmp_path: Path) -> None:
    write(tmp_path / "rows.jsonl", {**STEPS, "prediction": "Agent.Open(door)"})
    (tmp_path / "objects.json").write_text('{"Agent.Open": {"object": ["door"]}}')
    told = fcall_here(tmp_path, "score", "--format", "toolbench", "--objects", "objects.json", "rows.jsonl")
    assert json.loads(told.stdout)["crashed"] is False
    untold = fcall_here(tmp_path, "score", "--format", "toolbench", "rows.jsonl")
    assert json.loads(untold.stdout)["crashed"] is True


@pytest.mark.parametrize("content", [None, "", "[1]", "[" * 100_000, '{"A": 1}', "\udcff"])
def test_objects_that_cannot_be_read_are_told_of(tmp_path: Path, content: str | None) -> None:
    write(tmp_path / "rows.jsonl", STEPS)
    if content is not None:
        (tmp_path / "objects.json").write_bytes(content.encode(errors="surrogateescape"))
    done = fcall_here(tmp_path, "score", "--format", "toolbench", "--objects", "objects.json", "rows.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith("fcall score: error: cannot read objects.json: ")


def test_one_set_of_rules_has_no_differences(tmp_path: Path) -> None:
    write(tmp_path / "rows.jsonl", RUN)
    done = fcall_here(tmp_path, "score", "--format", "mannheim", "--differences", "out.jsonl", "rows.jsonl")
    assert done.returncode == 2
    assert "unrecognized arguments: --differences" in done.stderr

"""The logged runs of Mannheim, given again in runs of pytest: each score of each case is that of `fcall score`.

The rows are not ours to pass on: FCALL_CORPUS names a folder that holds them.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.reporting.result_json import results_from_json
from pytest_fcall.tracking.run_file import read_run, run_paths
from tests.bfcl_data import write_rows
from tests.conformance.conftest import Held
from tests.conformance.corpus import CORPUS, rows
from tests.integration.command import fcall, run_pytest

NATIVE = CORPUS / "native" / "mannheim"
LOGGED = CORPUS / "mannheim_verdicts.jsonl.gz"
PARTS = {
    "T4 single simple": "single",
    "T5 single complex": "single_complex",
    "T6 multi param": "multi_param",
    "T7 parallel": "parallel",
    "T8 sequential": "sequential",
}
TABLES = ("airbnbs", "restaurants", "food_orders", "albums_1", "songs_1", "albums_2", "songs_2", "artists_2")
BY_DAY = {("T7 parallel", "strict"), ("T8 sequential", "original")}
"""All go the same way. What a table has of its own is held by `test_mannheim_native`."""
COUNTS = {"function_accuracy": ("fc", "ft"), "parameter_accuracy": ("pc", "pt")}
APP = """
import json
from dataclasses import replace
from pathlib import Path

SAID = json.loads(Path("said.json").read_text(encoding="utf-8"))


def pytest_fcall_request(case, request):
    return replace(request, settings={"case": case.id})


def answer(request):
    said = SAID[request.settings["case"]]
    if said["calls"] and request.messages[-1]["role"] != "tool":
        return [{"name": name, "arguments": given} for name, given in said["calls"]]
    return said["answer"] or ""
"""

pytestmark = pytest.mark.skipif(not LOGGED.is_file(), reason="FCALL_CORPUS names no folder with logged runs")


def case_id(row: Mapping[str, Any]) -> str:
    file, _, question = row["case"].partition("::")
    return f"{file.partition('_')[0].lower()}_{PARTS[row['table']]}_{question}"


def calls_of(row: Mapping[str, Any]) -> list[tuple[str, Any]]:
    names, given = row["called"] or [], row["called_parameters"] or []
    return list(zip(names, [*given, *[{}] * len(names)], strict=False))


def write_sets(folder: Path, logged: Sequence[Mapping[str, Any]]) -> None:
    """Write the sets of the benchmark, with the right calls and answers that questions had when they were asked."""
    asked = {row["case"].partition("::")[2]: row for row in logged}
    with gzip.open(NATIVE / "question_sets.json.gz", "rt", encoding="utf-8") as stream:
        sets = json.load(stream)
    for question in (question for each in sets["question_sets"] for question in each["questions"]):
        if row := asked.get(question["id"]):
            paths = [{"functions": names, "parameters": given} for names, given in row["paths"]]
            question["target"] |= {"solution_paths": paths, "expected_answer": row["expected"]}
    folder.mkdir()
    (folder / "question_sets.json").write_text(json.dumps(sets), encoding="utf-8")
    with gzip.open(NATIVE / "function_sets.json.gz", "rb") as stream:
        (folder / "function_sets.json").write_bytes(stream.read())
    for name in TABLES:  # what calls give does not matter here
        (folder / f"{name}.csv").write_text("name\n", encoding="utf-8")


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("table", "profile"),
    [
        pytest.param(*each, marks=() if each in BY_DAY else pytest.mark.nightly)
        for each in product(PARTS, ("strict", "original"))
    ],
)
def test_a_run_scores_each_case_as_fcall_score_does(
    tmp_path: Path, table: str, profile: str, every: int, held: Held
) -> None:
    asked = [row for row in rows(LOGGED) if row["table"] == table and len(calls_of(row)) == len(row["called"] or [])]
    logged = asked[::every]
    write_sets(tmp_path / "sets", logged)
    said = {case_id(row): {"calls": calls_of(row), "answer": row["answer"]} for row in logged}
    (tmp_path / "said.json").write_text(json.dumps(said), encoding="utf-8")
    (tmp_path / "conftest.py").write_text(APP, encoding="utf-8")
    write_rows(tmp_path / "rows.jsonl", logged)
    graded = [
        json.loads(line)
        for line in fcall(tmp_path, "score", "--format", "mannheim", "rows.jsonl").stdout.split("\n")
        if line
    ]
    done = run_pytest(
        tmp_path,
        *("--tb=no", "--fc-suite=mannheim", "--fc-suite-path=sets", f"--fc-suite-profile={profile}"),
        *("--fc-model=python:conftest:answer", "--fc-pick=" + ",".join(said)),
    )
    (path,) = run_paths(tmp_path)
    scored = {
        result.case: {each.score: tuple(each.numbers) for each in result.scores}
        for result in results_from_json(read_run(path).results).results
    }
    assert len(scored) == len(logged), done.stdout
    expected = {
        case_id(row): {
            **{name: tuple(grades[key] for key in keys) for name, keys in COUNTS.items()},
            "answer_accuracy": (int(grades["answer"] == "Correct"), 1),
        }
        for row, grades in zip(logged, graded, strict=True)
    }
    assert scored == expected
    held("Mannheim", "all scores of a case, by either profile", "`fcall score` on the same logged runs", len(logged))

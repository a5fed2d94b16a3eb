"""`fcall board`: models of runs and of stored answers, best first, and which of them differ by more than chance."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from pytest_fcall.reporting.result_json import results_to_json
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.tracking.run_file import RunFile, runs_folder, write_run
from tests.bfcl_data import write_rows
from tests.integration.command import fcall_here

CATEGORIES = ("simple_python", "multiple", "irrelevance")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def exam(model: str, right: int, *, of: int = 30, suite: str = "", start: int = 0) -> list[Result]:
    """So many cases in each category, of which the first ones are right."""
    return [
        Result(
            f"w.fc.yaml::{category}_{n}[{model}]",
            f"{category}_{n}",
            model,
            "passed" if n < right else "failed",
            category=category,
            file="w.fc.yaml",
            seconds=0.5,
            cost=0.01,
            suite=suite,
        )
        for category in CATEGORIES
        for n in range(start, of)
    ]


def keep(folder: Path, name: str, results: Sequence[Result]) -> Path:
    models = tuple(dict.fromkeys(each.model for each in results))
    path = runs_folder(folder) / f"{name}.json"
    write_run(path, RunFile(name, "2026-11-21T19:00:00+00:00", results_to_json(Results(tuple(results))), models))
    return path


def verdicts(path: Path, right: int, of: int = 30) -> None:
    rows: list[dict[str, Json]] = [
        {"category": name, "id": f"{name}_{n}", "valid": n < right, "error_type": None, "strict_valid": True}
        for name in CATEGORIES
        for n in range(of)
    ]
    write_rows(path, rows)


def test_the_models_of_the_last_run_are_ranked_with_what_is_significant(folder: Path) -> None:
    keep(folder, "20261121-a", [*exam("weak", 12), *exam("good", 28), *exam("close", 27)])
    done = fcall_here(folder, "board")
    assert done.returncode == 0
    ranking = [line.split()[0] for line in done.stdout.splitlines()[:4]]
    assert ranking == ["model", "good", "close", "weak"]
    first, second = (line for line in done.stdout.splitlines() if " before " in line)
    assert first.startswith("good before close: +3.3 points [")
    assert first.endswith("over 90 common cases, p = 0.250: chance may explain it")
    assert second.startswith("close before weak: +50.0 points [")
    assert second.endswith("p < 0.001: hardly chance")
    assert "irrelevance" in done.stdout
    assert "$0.90" in done.stdout


def test_parts_of_a_model_are_put_together_and_other_answers_to_the_same_cases_are_another_model(folder: Path) -> None:
    one = keep(folder, "20261121-a", exam("m", 10, of=10))
    two = keep(folder, "20261121-b", exam("m", 15, of=30, start=10))
    three = keep(folder, "20261121-c", exam("m", 3, of=10))
    done = fcall_here(folder, "board", *map(str, (one, two, three)))
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[1][:2] == ["m", "45/90"]
    assert lines[2][:4] == ["m", "(20261121-c)", "9/30", "30.0"]


def test_verdicts_are_ranked_by_the_score_of_their_suite_and_paired_with_runs(folder: Path) -> None:
    verdicts(folder / "gpt.jsonl", 20)
    verdicts(folder / "opus.jsonl.gz", 25)
    own = keep(folder, "20261121-a", exam("asked", 5, suite="bfcl"))
    with (folder / "gpt.jsonl").open("a") as file:
        print(json.dumps({"category": "multiple", "id": "multiple_0", "valid": True}), file=file)
        print(json.dumps({"category": "multiple", "id": "x", "error": "no such case"}), file=file)
    names = ("gpt.jsonl", "opus.jsonl.gz", str(own))
    done = fcall_here(folder, "board", *names, "--name", "gpt=GPT 9", "-o", "out/board.csv", "-o", "out/board.md")
    assert (done.returncode, done.stderr) == (0, "")
    with (folder / "out/board.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [row["model"] for row in rows if row["kind"] == "all"] == ["opus", "GPT 9", "asked"]
    scores = {row["model"]: float(row["share"]) for row in rows if row["name"] == "overall"}
    assert scores["opus"] == pytest.approx(0.1 * (25 / 30 / 3 / 4 + 25 / 30 / 4) + 0.1 * (25 / 30 / 2))
    text = (folder / "out/board.md").read_text(encoding="utf-8")
    assert text.count("over 90 common cases") == 2
    assert "gpt.jsonl: 1 row without a verdict" in text
    assert "about a case that has another one" in text


def test_a_case_with_several_answers_counts_by_the_share_of_right_ones(folder: Path) -> None:
    answers = {"steady": "0111 0111 1111", "lucky": "1000 1000 1000"}  # the first of each would put `lucky` first
    for model, cases in answers.items():
        rows: list[dict[str, Json]] = [
            {"category": "multiple", "id": f"multiple_{number}", "valid": answer == "1"}
            for number, case in enumerate(cases.split())
            for answer in case
        ]
        write_rows(folder / f"{model}.jsonl", rows)
    sampled = [each._replace(samples=(1, 2)) for each in exam("sampled", 30)]
    own = keep(folder, "20261121-a", [each for each in sampled if each.category == "multiple"][:3])
    done = fcall_here(folder, "board", "lucky.jsonl", "steady.jsonl", str(own), "-o", "board.csv")
    assert done.returncode == 0
    with (folder / "board.csv").open(encoding="utf-8", newline="") as file:
        rows_of = {kind: [row for row in csv.DictReader(file) if row["kind"] == kind] for kind in ("all",)}
    ranked = [(row["model"], float(row["share"]), row["answered"]) for row in rows_of["all"]]
    assert ranked == [("steady", pytest.approx(10 / 12), "3"), ("sampled", 0.5, "3"), ("lucky", 0.25, "3")]
    done = fcall_here(folder, "board", "lucky.jsonl", "steady.jsonl")
    lines = [line.split() for line in done.stdout.splitlines()]
    scores = [float(line[1]) for line in lines[1:3]]
    assert [line[0] for line in lines[1:3]] == ["steady", "lucky"]
    assert scores[0] / scores[1] == pytest.approx(10 / 3, abs=0.1)  # the score of the suite counts answers, too
    assert [line[3] for line in lines[1:3]] == ["2.5/3", "0.8/3"]
    assert "9 rows about a case that has another one; the share of right answers counts" in done.stdout


def test_published_figures_stand_beside_ours_with_the_reason_for_the_gap(folder: Path) -> None:
    verdicts(folder / "sailor-FC.jsonl", 20)
    (folder / "table.csv").write_text(
        "Rank,Overall Acc,Model,Non-Live Multiple AST,Irrelevance Detection,simple_python\n"
        "1,80.00%,Sailor (FC),65.00%,N/A,12.5%\n"
    )
    done = fcall_here(folder, "board", "sailor-FC.jsonl", "--published", "table.csv")
    told = [line.split() for line in done.stdout.splitlines()]
    overall = next(line for line in told if "Overall" in line)
    assert " ".join(overall).endswith("points: what was not asked counts as wrong")
    multiple = next(line for line in told if "Multiple" in line)
    assert " ".join(multiple) == (
        "sailor-FC Non-Live Multiple AST 65.00 % 66.67 % +1.67 points: within the 95 % interval"
    )
    python = next(line for line in told if line[1:2] == ["simple_python"])
    assert " ".join(python[2:]) == "12.50 % 66.67 % +54.17 points"
    other = fcall_here(folder, "board", "sailor-FC.jsonl", "--name", "sailor-FC=Boat", "--published", "table.csv")
    assert "nothing is published of Boat under these names" in other.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "a run is needed"),
        (("none.json",), "no such file"),
        (("odd.txt",), "odd.txt"),
        (("good.jsonl", "-o", "board.txt"), "a page, Markdown or a table"),
        (("good.jsonl", "--published", "odd.txt"), "no column `Model`"),
        (("good.jsonl", "--published", "none.csv"), "cannot read none.csv"),
        (("good.jsonl", "--name", "good"), "must be MODEL=NAME"),
    ],
)
def test_what_cannot_be_used_is_named(folder: Path, arguments: tuple[str, ...], told: str) -> None:
    verdicts(folder / "good.jsonl", 3)
    (folder / "odd.txt").write_text("a,b\n1,2\n")
    done = fcall_here(folder, "board", *arguments)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_board_without_an_answer_is_none(folder: Path) -> None:
    write_rows(folder / "broken.jsonl", [{"category": "multiple", "id": "x", "error": "no such case"}])
    done = fcall_here(folder, "board", "broken.jsonl")
    assert (done.returncode, done.stderr) == (1, "fcall board: no model has answered anything\n")
    keep(folder, "20261121-190000-aaaa", [Result("w.fc.yaml::a[m]", "a", "m", "error", file="w.fc.yaml")])
    last = fcall_here(folder, "board")
    assert last.stderr == (
        "fcall board: no model has answered anything in the last run; `fcall board RUN` reads another\n"
    )


def test_a_file_of_rows_without_verdicts_is_named_as_such(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [{"a": 1}])
    done = fcall_here(folder, "board", "rows.jsonl")
    assert done.returncode == 2
    assert "rows.jsonl: not a file of verdicts: fcall score prints one with `valid` in each line" in done.stderr


def test_verdicts_of_acebench_have_its_scores(folder: Path) -> None:
    rows: list[dict[str, Json]] = [
        {"id": f"en_normal_atom_bool_{n}", "valid": n < 3, "error_type": None, "progress": 0.0} for n in range(4)
    ]
    write_rows(folder / "sailor.jsonl", rows)
    done = fcall_here(folder, "board", "sailor.jsonl", "-o", "board.md")
    assert done.returncode == 0, done.stderr
    board = (folder / "board.md").read_text(encoding="utf-8")
    assert "3/4" in board
    assert "| bool&#91;en&#93; | 75.00 % |" in board

"""`fcall suites` and `fcall import`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bfcl_data import SAIL, question, truth, write_category, write_leaderboard
from tests.integration.command import fcall, fcall_here


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_leaderboard(tmp_path / "data")
    return tmp_path


def test_suites_are_listed_with_their_parts_and_where_they_are(folder: Path) -> None:
    done = fcall_here(folder, "suites", "bfcl", "--path", "data")
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert told[:2] == ["bfcl: Berkeley Function Calling Leaderboard v4, Apache-2.0", "  data: data"]
    assert any(line.split() == ["simple_python", "4", "2", "KiB"] for line in told)
    assert any(line.split() == ["live_simple"] for line in told)
    assert "  chatable: no call is right; the leaderboard never scored it" in told
    assert any(line.startswith("  bfcl:non_live is simple_python, ") and "(7 cases)" in line for line in told)


def test_a_suite_whose_data_is_missing_says_how_to_get_it(folder: Path) -> None:
    done = fcall_here(folder, "suites", "bfcl", "--path", "nowhere")
    assert done.returncode == 1
    assert "  data: not in nowhere; pip install --no-deps bfcl-eval" in done.stdout
    done = fcall_here(folder, "suites", "apibench", "--path", "data")
    assert done.returncode == 1
    assert "  data: not in data; get the folders" in done.stdout


def test_groups_are_told_by_smaller_groups_and_hubs_of_ones_own_are_listed(folder: Path) -> None:
    told = fcall_here(folder, "suites", "bfcl", "--path", "data").stdout.splitlines()
    assert any(line.startswith("  bfcl:v2 is single_turn, exec_simple, ") for line in told)
    assert any(line.startswith("  bfcl:v4 is v3, agentic (") for line in told)
    assert any(line.startswith("  bfcl:memory is memory_kv, memory_vector, memory_rec_sum") for line in told)
    write_zoo(folder / "zoo")
    told = fcall_here(folder, "suites", "apibench", "--path", "zoo").stdout.splitlines()
    assert "  data: zoo" in told
    assert any(line.split() == ["zoo", "2"] for line in told)


def write_zoo(folder: Path) -> None:
    folder.mkdir()
    rows = [{"domain": domain, "api_call": f"zoo.{domain[-1]}()"} for domain in ("Text To", "text to")]
    asked = [{"code": "###Instruction: Speak.", "api_call": row["api_call"], "api_data": row} for row in rows]
    for name, lines in (("zoo_api.jsonl", rows), ("zoo_eval.json", asked)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_files_have_names_that_every_system_and_shell_takes(folder: Path) -> None:
    write_zoo(folder / "zoo")
    done = fcall_here(folder, "import", "apibench:zoo", "--path", "zoo", "--out", "cases")
    assert done.stdout.splitlines() == ["cases/zoo_Text_To.fc.yaml: 1 case", "cases/zoo_text_to_2.fc.yaml: 1 case"]


def test_a_suite_that_is_not_known_is_told_with_those_that_are(folder: Path) -> None:
    done = fcall_here(folder, "suites", "bfkl")
    assert done.returncode == 2
    assert "unknown suite 'bfkl'; available: " in done.stderr


def test_imported_cases_are_case_files(folder: Path) -> None:
    done = fcall_here(folder, "import", "bfcl:simple_python,parallel_multiple", "--path", "data", "--out", "cases")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "cases/simple_python.fc.yaml: 4 cases",
        "cases/parallel_multiple.fc.yaml: 1 case",
    ]
    assert fcall_here(folder, "lint", "cases").stdout.splitlines()[-1] == "5 cases in 2 files: no faults"


def test_some_cases_can_be_lifted_out(folder: Path) -> None:
    done = fcall_here(
        folder, "import", "bfcl:simple_python", "--path", "data", "--out", ".", "--pick", "simple_python_2"
    )
    assert done.stdout == "simple_python.fc.yaml: 1 case\n"
    assert '  - id: "simple_python_2"\n    prompt: "Sail to Turku with 2."' in (
        folder / "simple_python.fc.yaml"
    ).read_text(encoding="utf-8")


def test_a_case_that_no_file_can_say_is_told(folder: Path) -> None:
    rows = [question("multiple_0", "Sail.", SAIL), question("multiple_1", "Sail.", SAIL)]
    truths = [truth("multiple_0", {"sail": {"mast": [1]}}), truth("multiple_1", {"sail": {"port": ["Oslo"]}})]
    write_category(folder / "data", "multiple", rows, truths)
    talks = [f"multi_turn_base_{number}" for number in range(7)]
    write_category(
        folder / "data", "multi_turn_base", [question(id_, "Sail.") for id_ in talks], [truth(id_) for id_ in talks]
    )
    done = fcall_here(folder, "import", "bfcl:multiple,multi_turn_base", "--path", "data", "--out", "cases")
    assert done.returncode == 1
    assert done.stdout == "cases/multiple.fc.yaml: 1 case\n"
    single, talks_told, total = done.stderr.splitlines()
    assert talks_told == (
        "left out: multi_turn_base_0 and 6 others: its conversations have a rule of their own, which a case "
        "file cannot express"
    )
    assert single.startswith("left out: multiple_0: ")
    assert total == "8 of 9 cases left out"


def test_no_file_is_overwritten(folder: Path) -> None:
    (folder / "irrelevance.fc.yaml").write_text("mine", encoding="utf-8")
    done = fcall(folder, "import", "bfcl:irrelevance", "--path", "data", "--out", ".")
    assert done.returncode == 1
    assert done.stderr == "fcall: file exists and is not overwritten; choose another folder: irrelevance.fc.yaml\n"
    assert (folder / "irrelevance.fc.yaml").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("suite", "message"),
    [
        ("bfkl", "unknown suite 'bfkl'; available: "),
        ("bfcl:simple", "no part 'simple' in suite bfcl"),
    ],
)
def test_mistakes_are_told(folder: Path, suite: str, message: str) -> None:
    done = fcall_here(folder, "import", suite, "--path", "data", "--out", "cases")
    assert done.returncode == 2
    assert message in done.stderr


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "question_sets.json").write_text("{")

    done = fcall_here(tmp_path, "suites", "mannheim", "toolbench", "--path", ".")

    assert done.returncode == 1
    assert done.stderr.startswith("mannheim: question_sets.json is not JSON")
    assert "toolbench: ToolBench" in done.stdout

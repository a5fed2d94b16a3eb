"""`fcall score --format acebench`: stored answers are judged as those of a run, and ends of agents' tasks, too."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import fcall, run_pytest
from tests.unit.suites.acebench.data import question, write

SAID = {
    "normal_atom_bool_0": "Sure:\n[boat_sail(port='oslo')]",
    "normal_atom_bool_1": "[boat_sail(port='Rome')]",
    "normal_multi_turn_user_switch_0_0": "[boat_sail(port='Oslo')]",
    "normal_multi_turn_user_switch_0_1": "boat_sail(port='Oslo')",
    "normal_multi_turn_user_switch_1_0": "[boat_sail(port='Oslo')]",
    "special_irrelevant_0": "Due to the limitations of the function, I cannot.",
}
APP = """
import json
from dataclasses import replace
from pathlib import Path

SAID = json.loads(Path("said.json").read_text(encoding="utf-8"))


def pytest_fcall_request(case, request):
    return replace(request, settings={"case": case.id})


def answer(request):
    return SAID[request.settings["case"].removeprefix("en_")]
"""


def write_checkout(folder: Path) -> None:
    right = {"boat_sail": {"port": "Oslo"}}
    for category in ("normal_atom_bool", "normal_multi_turn_user_switch"):
        write(folder / "ace", category, [question(id_, right) for id_ in SAID if id_.startswith(category)])
    write(folder / "ace", "special_irrelevant", [question("special_irrelevant_0", "Due to …")])
    state = [{"BaseApi": {"wifi": True}}, {"Boats": {"boats": {"Ann": {"port": "Oslo"}}}}]
    asked, right_end = question("agent_multi_step_0", state)
    steps = ["[turn_on_wifi()]", "[boat_sail(port='Oslo')]"]
    write(folder / "ace", "agent_multi_step", [(asked, {**right_end, "mile_stone": steps})])


def write_rows(folder: Path, *rows: Any) -> None:
    (folder / "rows.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def score(folder: Path, *options: str) -> tuple[list[dict[str, Any]], list[str], int]:
    done = fcall(folder, "score", "--format", "acebench", "--data", "ace", *options, "rows.json")
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.splitlines(), done.returncode


def test_results_are_judged_by_both_rules_and_a_run_has_the_same_scores(tmp_path: Path) -> None:
    write_checkout(tmp_path)
    write_rows(tmp_path, *[{"id": id_, "result": said} for id_, said in SAID.items()])
    judged, told, status = score(tmp_path, "--language", "en", "--totals")
    assert status == 0
    assert [(row["valid"], row["error_type"], row["strict_valid"]) for row in judged] == [
        (True, None, True),
        (False, "value_error:string", False),
        (True, None, True),
        (False, "wrong_output_format", True),
        (True, None, True),
        (True, None, True),
    ]
    shares = {row[0]: row[1:] for row in (re.split(r"  +", line) for line in told)}
    assert shares["English"] == ["n", "accuracy"]
    assert shares["bool"] == ["2", "0.500"]
    assert shares["multiple_turn_switch"] == ["3", "0.500"]
    assert shares["irrelevant"] == ["1", "1.000"]
    (tmp_path / "said.json").write_text(json.dumps(SAID), encoding="utf-8")
    (tmp_path / "conftest.py").write_text(APP, encoding="utf-8")
    parts = "acebench:en_normal_atom_bool,en_normal_multi_turn_user_switch,en_special_irrelevant"
    run = run_pytest(tmp_path, f"--fc-suite={parts}", "--fc-suite-path=ace", "--fc-model=python:conftest:answer").stdout
    assert "profile original" in run
    assert "(acebench: value_error:string)" in run
    for name, share in {"bool": "50.00 %", "multiple_turn_switch": "50.00 %", "irrelevant": "100.00 %"}.items():
        assert re.search(rf"^{name}\[en\] +{share}$", run, re.MULTILINE), run
    assert re.search(r"^Summary\[en\] +-$", run, re.MULTILINE), run


def test_the_end_of_a_task_is_judged_with_the_way_there(tmp_path: Path) -> None:
    write_checkout(tmp_path)
    end = [{"Boats": {"boats": {"Ann": {"port": "Oslo"}, "Bea": {}}}}, {"BaseApi": {"wifi": True}}]
    off = [end[0], {"BaseApi": {"wifi": False}}]
    rows = [
        {"id": "en_agent_multi_step_0", "result": end, "process": []},
        {"id": "en_agent_multi_step_0", "result": off, "process": ["[f()]", "[boat_sail(port='Oslo')]"]},
        {"id": "en_agent_multi_step_0", "result": end[:1], "process": [" [turn_on_wifi()]"]},
        {"id": "en_agent_multi_step_0", "result": [3, 4], "process": []},
        {"id": "en_agent_multi_step_0", "result": off},
    ]
    write_rows(tmp_path, *rows)
    judged, told, status = score(tmp_path, "--totals")
    assert status == 1
    assert [(row["valid"], row["error_type"], row["progress"]) for row in judged[:4]] == [
        (True, None, 1.0),
        (False, "class attributes wrong", 0.0),  # the first milestone is looked for up to the end
        (False, "wrong number of class", 0.5),
        (False, "case_error:AttributeError", 0.0),
    ]
    assert "needs `process`, a list of its calls" in judged[4]["error"]
    shares = [line.split() for line in told]
    assert ["agent_multi_step", "4", "0.250"] in shares
    assert ["agent_multi_step_process", "0.375"] in shares


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"id": "normal_atom_bool_0", "result": ""}, "may be English or Chinese; say which with --language"),
        ({"id": "en_normal_atom_bool_9", "result": ""}, "has no question en_normal_atom_bool_9"),
        ({"id": "zh_normal_atom_bool_0", "result": ""}, "no questions of zh_normal_atom_bool"),
        ({"id": "simple_0", "result": ""}, "is no id of ACEBench"),
        ({"id": "en_normal_atom_bool_0"}, "missing `result`"),
        ({"result": ""}, "missing `id`"),
    ],
)
def test_a_row_that_cannot_be_judged_says_why(tmp_path: Path, row: Any, why: str) -> None:
    write_checkout(tmp_path)
    write_rows(tmp_path, row)
    (judged,), _, status = score(tmp_path)
    assert status == 1
    assert "rows.json:1" in judged["error"]
    assert why in judged["error"]


def test_a_folder_that_is_no_checkout_is_told(tmp_path: Path) -> None:
    write_rows(tmp_path, {})
    done = fcall(tmp_path, "score", "--format", "acebench", "--data", ".", "rows.json")
    assert done.returncode == 2
    assert "is no checkout of ACEBench" in done.stderr

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.session.result import plan as plans
from pytest_fcall.tracking.run_file import run_paths
from tests.integration.command import fcall, fcall_here, run_pytest
from tests.integration.nights import MODEL, keep_night

STEADY, SHAKY = "1" * 12, ["1" * 6 + row for row in ("110100", "101101", "011011", "111010", "010111")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


@pytest.fixture(autouse=True)
def rough_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has commands in the process of a test simulate few runs; one in a process of its own simulates all."""
    monkeypatch.setattr(plans, "runs_of", lambda _: 40)


def plan(folder: Path, *arguments: str) -> Any:
    done = fcall_here(folder, "plan", "--json", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    (found,) = json.loads(done.stdout)["plans"]
    return found


def test_it_says_what_a_run_sees_and_what_it_takes_to_see_a_drop(folder: Path) -> None:
    for day, right in enumerate(SHAKY, 1):
        keep_night(folder, day, right)
    done = fcall(folder, "plan", "--drop", "40%", COLUMNS="80")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"{MODEL}: 12 cases, 60 answers before, about 8")
    assert lines[1].endswith("of the cases are right now and wrong then")
    assert lines[2] == "12 cases not accepted: a run compares them only after `fcall accept`"
    assert lines[4] == "a run of 12 cases, 1 answer a case ($0.0120, 24 s):"
    assert [" ".join(line.split()[:3]) for line in lines[6:11]] == [
        "each case a",
        "some cases, for",
        "1 case, for",
        "3 cases, for",
        "none (false alarms)",
    ]
    (cheapest,) = (line.split() for line in lines if line.endswith("cheapest"))
    cases, samples, answers = (int(each) for each in cheapest[:3])
    assert cases * samples == answers
    assert cheapest[3] == f"${answers * 0.001:.4f}"
    assert "ASSUMED" not in done.stdout


def test_a_drop_is_seen_the_better_the_larger_it_is(folder: Path) -> None:
    for day, right in enumerate(SHAKY, 1):
        keep_night(folder, day, right)
    small, large = (plan(folder, "--drop", drop) for drop in ("30%", "60%"))
    assert small["sees"][0]["power"] < large["sees"][0]["power"]
    assert small["sees"][0]["visible_drop"] == large["sees"][0]["visible_drop"]
    assert small["options"][0]["answers"] > large["options"][0]["answers"]
    assert small == plan(folder, "--drop", "30%")


def test_what_is_measured_is_that_of_the_case_as_it_is_today(folder: Path) -> None:
    for day in range(1, 6):
        keep_night(folder, day, STEADY)
    keep_night(folder, 6, STEADY, digests={"prompt": "another"})
    assert plan(folder, "--drop", "60%")["measured"]["answers"] == 12


def test_where_cases_were_asked_once_their_flakiness_is_called_assumed(folder: Path) -> None:
    keep_night(folder, 1, STEADY)
    shown = fcall_here(folder, "plan", "--drop", "60%").stdout
    assert "ASSUMED, as far as cases were asked once (12 were): how steady they are" in shown
    assert "pytest --fc-samples=5" in shown


def test_without_runs_a_plan_needs_a_number_of_cases_and_says_that_all_is_assumed(folder: Path) -> None:
    done = fcall_here(folder, "plan", "--drop", "10%")
    assert (done.returncode, done.stdout) == (1, "")
    assert "run `pytest --fc-samples=5` once, then `fcall accept`" in done.stderr
    shown = fcall_here(folder, "plan", "--drop", "60%", "--cases", "12").stdout
    assert shown.startswith("any model: nothing is measured\nASSUMED, not measured: 12 cases as models usually are")
    assert plan(folder, "--drop", "60%", "--cases", "12")["measured"] is None


def test_a_gate_of_the_runs_takes_part_and_another_suite_may_be_asked_about(folder: Path) -> None:
    for day, right in enumerate(SHAKY, 1):
        keep_night(folder, day, right)
    found = plan(folder, "--drop", "50%", "--cases", "8", "--samples", "2", "--level", "10%")
    assert (found["level"], found["suite"]) == (0.1, {"cases": 8, "samples": 2})


def test_runs_of_pytest_and_accepted_answers_are_measured(folder: Path) -> None:
    tool = "{name: pay, parameters: {type: object, properties: {to: {type: string}}, required: [to]}}"
    for name in ("one", "two"):
        cases = "".join(f"  - {{id: c{n}, prompt: Pay {name} {n}, expect: [pay: {{to: Ada}}]}}\n" for n in range(6))
        (folder / f"{name}.fc.yaml").write_text(f"tools: [{tool}]\ncases:\n{cases}")
    (folder / "app.py").write_text("def answer(_):\n    return [{'name': 'pay', 'arguments': {'to': 'Ada'}}]\n")
    gate = "--fc-gate=significant(0.05)"
    assert run_pytest(folder, "-q", "--fc-samples=5", "--fc-model=python:app:answer").returncode == 0
    assert fcall_here(folder, "accept").returncode == 0
    assert run_pytest(folder, "-q", "--fc-model=python:app:answer", gate).returncode == 0
    found = plan(folder, "--drop", "50%", "one.fc.yaml")
    assert (found["measured"]["cases"], found["measured"]["accepted"], found["measured"]["answers"]) == (6, 6, 36)
    assert found["level"] == 0.05
    assert plan(folder, "--drop", "50%")["measured"]["cases"] == 12


def test_cases_that_were_only_replayed_are_left_out_and_told(folder: Path) -> None:
    keep_night(folder, 1, STEADY[:6])
    keep_night(folder, 2, STEADY, replayed=True)
    shown = fcall_here(folder, "plan", "--drop", "60%").stdout
    assert shown.startswith(f"{MODEL}: 6 cases, 6 answers before")
    assert "6 cases left out: recordings answered, or nothing did" in shown


def test_damaged_runs_and_measurements_are_told_and_passed_over(folder: Path) -> None:
    for day, right in enumerate(SHAKY, 1):
        path = keep_night(folder, day, right)
    text = path.read_text()
    path.write_text(text.replace('\\"valid\\": true', '\\"samples\\": [900000000, 900000000], \\"valid\\": true'))
    run_paths(folder)[0].write_text('{"fcall_run": 1}')
    done = fcall_here(folder, "plan", "--drop", "40%")
    assert done.returncode == 0
    assert done.stderr.count("not a run file") == 1
    assert "Traceback" not in done.stderr


def test_a_model_that_no_run_has_is_told_with_those_that_they_have(folder: Path) -> None:
    keep_night(folder, 1, SHAKY[0])
    for more in ([], ["--cases", "40"]):
        done = fcall_here(folder, "plan", "--drop", "5%", "--model", "nosuch", *more)
        assert done.returncode == 2
        assert f"--model: nosuch: no model is called so; the runs have {MODEL}\n" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: --drop"),
        (["--drop", "0%"], "must be a share such as 5% or 0.05"),
        (["--drop", "5%", "--power", "100%"], "must be a share such as 5% or 0.05"),
        (["--drop", "5%", "--cases", "0"], "must be an integer from 1 to 2000"),
        (["--drop", "5%", "gone.fc.yaml"], "no such file or folder: gone.fc.yaml"),
    ],
)
def test_wrong_command_lines_are_refused(folder: Path, arguments: list[str], message: str) -> None:
    done = fcall_here(folder, "plan", *arguments)
    assert done.returncode == 2
    assert message in done.stderr

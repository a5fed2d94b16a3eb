from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.result_json import results_to_json
from pytest_fcall.reporting.results import Result, Results, Status
from pytest_fcall.tracking.run_file import RunFile, runs_folder, write_run
from tests.integration.command import fcall_here
from tests.integration.conftest import Shop
from tests.integration.exam import weather_in

MODEL = "openai:gpt-5.2"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def result(case: str, status: Status, model: str = MODEL, category: str = "simple") -> Result:
    reasons = (("wrong_value", "calls[0].args.unit"),) if status == "failed" else ()
    file = "cases/w.fc.yaml"
    return Result(f"{file}::{case}", case, model, status, category=category, reasons=reasons, file=file, line=7)


def exam(right: Mapping[str, int], of: int, model: str = MODEL) -> list[Result]:
    """So many cases in each category, of which the first ones are right."""
    return [
        result(f"{category}{n}", "passed" if n < count else "failed", model, category)
        for category, count in right.items()
        for n in range(of)
    ]


def keep(folder: Path, name: str, results: list[Result], **told: str) -> Path:
    models = tuple(dict.fromkeys(each.model for each in results))
    path = runs_folder(folder) / f"{name}.json"
    run = RunFile(name, "2026-11-21T19:00:00+00:00", results_to_json(Results(tuple(results))), models, provenance=told)
    write_run(path, run)
    return path


def compare(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return fcall_here(folder, "compare", *arguments, COLUMNS="120")


def test_two_runs_are_compared_case_by_case(folder: Path) -> None:
    keep(folder, "20261120-a", exam({"simple": 40, "parallel": 38}, 40), branch="main", commit="1234567890abcdef")
    keep(folder, "20261121-b", exam({"simple": 40, "parallel": 30}, 40), branch="prompts", commit="f" * 40)
    done = compare(folder)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        "before: 20261120-a, openai:gpt-5.2, main 1234567890",
        "now:    20261121-b, openai:gpt-5.2, prompts ffffffffff",
    ]
    assert lines[2].split() == ["model", "category", "cases", "before", "now", "points", "95", "%", "lost", "won", "p"]
    assert " ".join(lines[3].split()) == f"{MODEL} simple 40 100.0 % 100.0 % 0.0 [-6.6, +6.6] 0 0 1.000"
    assert " ".join(lines[4].split()) == "parallel 40 95.0 % 75.0 % -20.0 [-32.6, -5.5] 8 0 0.016"
    assert lines[5] == f"lost  cases/w.fc.yaml:7 parallel30 ({MODEL}): wrong_value at calls[0].args.unit"
    assert lines[-1] == ("fcall: 80 cases, 97.5 % → 87.5 % right: -10.0 points [-17.0, -2.5], 8 lost, 0 won, p = 0.008")


def test_chances_of_categories_are_adjusted_for_their_number(folder: Path) -> None:
    keep(folder, "a", exam({"simple": 40, "parallel": 38, "other": 9}, 40))
    keep(folder, "b", exam({"simple": 40, "parallel": 30, "other": 9}, 40))
    assert compare(folder).stdout.splitlines()[4].endswith("0.023")  # three times 0.0078


def test_what_chance_explains_is_no_finding(folder: Path) -> None:
    keep(folder, "a", exam({"simple": 38}, 40))
    keep(folder, "b", exam({"simple": 34}, 40))
    done = compare(folder)
    assert (done.returncode, done.stdout.splitlines()[-1][-9:]) == (0, "p = 0.125")


def test_to_get_better_is_no_finding(folder: Path) -> None:
    keep(folder, "a", exam({"simple": 10}, 40))
    keep(folder, "b", exam({"simple": 40}, 40))
    done = compare(folder)
    assert done.returncode == 0
    assert "30 won, p < 0.001" in done.stdout
    assert "won   10 more: --all lists them" in done.stdout
    assert compare(folder, "--all").stdout.count("\nwon   ") == 30


def test_another_model_is_compared_where_each_run_asked_one(folder: Path) -> None:
    keep(folder, "a", exam({"simple": 4}, 4))
    keep(folder, "b", exam({"simple": 3}, 4, "local:smollm2"))
    done = compare(folder, "a", "b")
    assert "lost  cases/w.fc.yaml:7 simple3 (local:smollm2)" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("fcall: 4 cases, 100.0 % → 75.0 % right")


def test_of_several_models_each_is_compared_with_itself(folder: Path) -> None:
    other = "local:smollm2"
    keep(folder, "a", exam({"simple": 4}, 4) + exam({"simple": 2}, 4, other))
    keep(folder, "b", exam({"simple": 4}, 4) + exam({"simple": 3}, 4, other))
    done = compare(folder)
    assert f"won   cases/w.fc.yaml:7 simple2 ({other})" in done.stdout
    assert [line.split()[:2] for line in done.stdout.splitlines()[3:5]] == [[MODEL, "all"], [other, "all"]]


def test_what_one_model_gains_does_not_hide_what_another_loses(folder: Path) -> None:
    other = "local:smollm2"
    keep(folder, "a", exam({"simple": 3}, 40) + exam({"simple": 40}, 40, other))
    keep(folder, "b", exam({"simple": 40}, 40) + exam({"simple": 30}, 40, other))
    done = compare(folder)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-2:] == [
        f"fcall: {MODEL} 40 cases, 7.5 % → 100.0 % right: +92.5 points [+76.3, +99.9], 0 lost, 37 won, p < 0.001",
        f"fcall: {other} 40 cases, 100.0 % → 75.0 % right: -25.0 points [-38.3, -9.3], 10 lost, 0 won, p = 0.002",
    ]


def test_chances_of_models_are_adjusted_for_their_number(folder: Path) -> None:
    other = "local:smollm2"
    keep(folder, "a", exam({"simple": 40}, 40))
    keep(folder, "b", exam({"simple": 34}, 40))
    alone = compare(folder)
    assert (alone.returncode, alone.stdout.splitlines()[-1][-9:]) == (1, "p = 0.031")
    keep(folder, "a", exam({"simple": 40}, 40) + exam({"simple": 40}, 40, other))
    keep(folder, "b", exam({"simple": 34}, 40) + exam({"simple": 40}, 40, other))
    both = compare(folder)
    assert (both.returncode, both.stdout.splitlines()[-2][-9:]) == (0, "p = 0.062")


def asked(results: list[Result], **digests: str) -> list[Result]:
    """The results, with digests of their questions."""
    parts = {"prompt": "aa", "expectation": "ee", "system": "ss", **digests}
    return [each._replace(stanza=json.dumps({"case": each.case, "valid": True, "digests": parts})) for each in results]


@pytest.mark.parametrize("change", [{"prompt": "bb"}, {"expectation": "ff"}])
def test_edited_cases_are_left_out_and_named(folder: Path, change: dict[str, str]) -> None:
    keep(folder, "a", asked(exam({"lost": 12}, 12) + exam({"mended": 0}, 30)))
    keep(folder, "b", asked(exam({"lost": 0}, 12)) + asked(exam({"mended": 30}, 30), **change))
    done = compare(folder)
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert lines[-1].startswith("fcall: 12 cases, 100.0 % → 0.0 % right: ")
    assert lines[-2] == "30 cases edited in between: not compared"
    assert f"edited  cases/w.fc.yaml:7 mended0 ({MODEL})" in lines
    assert "edited  10 more: --all lists them" in lines
    assert not [line for line in lines if line.startswith("won ")]


@pytest.mark.parametrize("change", [{"system": "tt"}, {"tool:get_weather": "0123456789abcdef"}])
def test_cases_with_another_system_prompt_or_tool_are_compared(folder: Path, change: dict[str, str]) -> None:
    keep(folder, "a", asked(exam({"simple": 12}, 12)))
    keep(folder, "b", asked(exam({"simple": 3}, 12), **change))
    assert "9 lost, 0 won" in compare(folder).stdout.splitlines()[-1]


def test_a_run_that_does_not_say_what_it_asked_is_compared(folder: Path) -> None:
    keep(folder, "a", exam({"simple": 12}, 12))
    keep(folder, "b", asked(exam({"simple": 3}, 12)))
    assert "9 lost, 0 won" in compare(folder).stdout.splitlines()[-1]


def test_where_every_case_was_edited_nothing_is_compared(folder: Path) -> None:
    keep(folder, "a", asked(exam({"simple": 2}, 2)))
    keep(folder, "b", asked(exam({"simple": 0}, 2), prompt="other"))
    done = compare(folder)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (
        0,
        "fcall: the runs have no answered case in common that was not edited",
    )


def test_all_answers_to_a_case_count_but_those_that_it_was_asked_again_for(folder: Path) -> None:
    before = [each._replace(samples=(5, 5)) for each in exam({"simple": 4}, 4)]
    now = [each._replace(samples=(4, 5)) for each in before[:3]]
    again = before[3]._replace(status="xfailed", outcome=Outcome.FLAKY, samples=(4, 7), first=(0, 1))
    keep(folder, "a", before)
    keep(folder, "b", [*now, again])
    lines = compare(folder).stdout.splitlines()
    assert lines[-2] == f"lost  cases/w.fc.yaml:7 simple3 ({MODEL}), flaky"
    assert lines[-1].startswith("fcall: 4 cases, 100.0 % → 60.0 % right: -40.0 points")


def test_what_only_one_run_answered_is_left_aside(folder: Path) -> None:
    keep(folder, "a", [result("x", "passed"), result("y", "error"), result("z", "passed")])
    keep(folder, "b", [result("x", "passed"), result("y", "passed"), result("new", "skipped")])
    lines = compare(folder).stdout.splitlines()
    assert lines[-3:-1] == ["1 case answered only before: not compared", "1 case answered only now: not compared"]
    assert lines[-1].startswith("fcall: 1 case, ")


def test_runs_without_a_case_in_common_say_so(folder: Path) -> None:
    keep(folder, "a", [result("x", "passed")])
    keep(folder, "b", [result("y", "passed")])
    done = compare(folder)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "fcall: the runs have no answered case in common")


def test_a_run_is_named_by_a_path_or_by_how_its_name_begins(folder: Path) -> None:
    path = keep(folder, "20261101-x", exam({"simple": 1}, 4))
    keep(folder, "20261102-y", exam({"simple": 2}, 4))
    keep(folder, "20261103-z", exam({"simple": 3}, 4))
    for names in (["20261101"], [str(path)], ["20261101-x", "20261103-z.json"]):
        assert compare(folder, *names).stdout.splitlines()[:2] == [
            f"before: 20261101-x, {MODEL}",
            f"now:    20261103-z, {MODEL}",
        ]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["2026"], "2026: 2 runs match"),
        (["monday"], "monday: no such file, and no such run in .fcall/runs"),
        (["", "2026"], ": no such file"),
        (["a", "b", "c"], "only two runs can be compared"),
        (["pytest.ini"], " run file: "),
        (["none\x1b[2J.json"], r"none\x1b[2J.json: no such file"),
    ],
)
def test_a_run_that_is_not_there_is_told(folder: Path, names: list[str], said: str) -> None:
    keep(folder, "20261101-x", [])
    keep(folder, "20261102-y", [])
    done = compare(folder, *names)
    assert (done.returncode, said in done.stderr) == (2, True)


def test_where_too_few_are_kept_it_says_how_to_get_one(folder: Path) -> None:
    done = compare(folder)
    assert done.returncode == 2
    assert "2 runs are needed, .fcall/runs holds 0: run pytest first" in done.stderr


def test_hostile_names_are_shown_harmless(folder: Path) -> None:
    keep(folder, "a", [result("x\x1b[2J", "passed")], branch="\x1b]0;title\x07")
    keep(folder, "b", [result("x\x1b[2J", "failed")])
    done = compare(folder)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout


def test_results_that_make_no_sense_are_told(folder: Path) -> None:
    path = keep(folder, "a", [result("x", "passed")])
    path.write_text(path.read_text().replace('"passed"', '"great"'))
    done = compare(folder, "a", "a")
    assert (done.returncode, "status: unknown status 'great'; available: " in done.stderr) == (2, True)


def test_the_runs_of_pytest_are_compared(shop: Shop) -> None:
    shop.cases(weather_in(f"Town{n}" for n in range(8)))
    shop.ask()
    path = shop.pytester.path / "echo.py"
    path.write_text(path.read_text() + "\n\ndef answer(request):\n    return []\n")
    shop.ask()
    done = compare(shop.pytester.path)
    assert done.returncode == 1
    assert "8 cases, 100.0 % → 0.0 % right: -100.0 points" in done.stdout
    assert "8 lost, 0 won, p = 0.008" in done.stdout


def test_two_models_of_a_run_are_compared(folder: Path) -> None:
    run = [
        *exam({"simple": 40}, 40),
        *exam({"simple": 20}, 40, "anthropic:opus-5"),
        *exam({"simple": 9}, 40, "b:opus-4"),
    ]
    keep(folder, "20261121-b", run)
    done = compare(folder, "--models", "gpt", "opus-5")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("before: 20261121-b, openai:gpt-5.2")
    assert lines[1].startswith("now:    20261121-b, anthropic:opus-5")
    assert lines[-1].startswith("fcall: 40 cases, 100.0 % → 50.0 % right: -50.0 points")
    assert compare(folder, "20261121", "--models", "opus-5", "gpt").returncode == 0


@pytest.mark.parametrize(
    ("models", "told"),
    [
        (("opus", "gpt"), "opus: several models are called so; it has openai:gpt-5.2, anthropic:opus-5, b:opus-4"),
        (("none", "gpt"), "none: no model of the run is called so"),
        (("gpt", "openai"), "gpt and openai are the same model"),
    ],
)
def test_a_model_that_is_not_in_the_run_is_named(folder: Path, models: tuple[str, str], told: str) -> None:
    run = [result("a", "passed", model) for model in (MODEL, "anthropic:opus-5", "b:opus-4")]
    keep(folder, "20261121-b", run)
    done = compare(folder, "--models", *models)
    assert done.returncode == 2
    assert told in done.stderr

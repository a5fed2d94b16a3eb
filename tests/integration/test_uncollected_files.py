"""Files that look like case files and are not collected are named in the summary, and how to have them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.integration.command import fcall
from tests.integration.conftest import QUIET, WEATHER, Shop

ONE = WEATHER + "cases: [{id: one, prompt: hello, expect: no_call}]\n"
HEAD = "not collected, but looks like a case file:"


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("evals/extra.yaml", "name it evals/extra.fc.yaml, or add evals/[*][*] to fc_files"),
        ("extra.yml", "name it extra.fc.yaml, or add extra.yml to fc_files"),
        ("other/cases/extra.yaml", "name it other/cases/extra.fc.yaml, or add other/cases/[*][*] to fc_files"),
        ("cases/extra.fc.yaml.txt", "name it cases/extra.fc.yaml"),
        ("cases/extra.fc.yalm", "name it cases/extra.fc.yaml"),
    ],
)
def test_a_file_in_a_wrong_place_or_of_a_wrong_name_is_named(weather: Shop, name: str, how: str) -> None:
    weather.file(name, ONE)
    weather.ask().stdout.fnmatch_lines([HEAD, f"  {name}: {how}"], consecutive=True)


@pytest.mark.parametrize("option", ["-q", by_night("-n2"), "--collect-only"])
def test_it_is_named_in_every_form_of_a_run(weather: Shop, option: str) -> None:
    weather.file("evals/extra.yaml", ONE)
    weather.ask(option).stdout.fnmatch_lines([HEAD, "  evals/extra.yaml: *"], consecutive=True)


def test_json_is_named_too(weather: Shop) -> None:
    weather.file("cases/extra.json", json.dumps({"cases": [{"id": "one", "prompt": "hello", "expect": "no_call"}]}))
    weather.ask().stdout.fnmatch_lines([HEAD, "  cases/extra.json: name it cases/extra.fc.yaml"], consecutive=True)


@pytest.mark.parametrize("indent", [None, "\t"])
def test_json_that_the_command_line_names_is_collected(shop: Shop, indent: str | None) -> None:
    face = {
        "id": "face",
        "prompt": "a \U0001f600, a \\ud83d\\ude00",
        "answer": "You said: a \U0001f600, a \\ud83d\\ude00",
    }
    cases = [{"id": "one", "prompt": "hello", "expect": "no_call"}, face]
    shop.file("evals/k.json", json.dumps({"tools": [], "cases": cases}, indent=indent))
    shop.ask("evals/k.json").assert_outcomes(passed=2)
    shop.ask("evals/k.json::one").assert_outcomes(passed=1)
    shop.run("evals/k.json::one[python:echo:answer]").assert_outcomes(passed=1)
    done = fcall(shop.pytester.path, "lint", "evals/k.json")
    assert (done.returncode, done.stdout) == (0, "2 cases in 1 file: no faults\n"), done.stderr
    shop.ask("evals").stdout.fnmatch_lines(["*  evals/k.json: name it evals/k.fc.yaml"])


def test_json_that_is_named_and_holds_no_cases_is_not_found(shop: Shop) -> None:
    shop.file("evals/data.json", '{"cases": [1, 2]}')
    assert shop.ask("evals/data.json").ret == pytest.ExitCode.USAGE_ERROR


def test_a_fault_in_json_has_its_place(shop: Shop) -> None:
    shop.file("k.json", json.dumps({"cases": [{"id": "one", "promt": "", "prompt": "hello", "expect": "no_call"}]}))
    result = shop.ask("k.json")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["k.json:1:26: a case has no key `promt`"])


def test_it_is_named_where_there_is_no_other_case(shop: Shop) -> None:
    shop.file("evals/extra.yaml", ONE)
    result = shop.run()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines([HEAD, "  evals/extra.yaml: *"])


def test_case_files_outside_of_testpaths_are_named(weather: Shop) -> None:
    weather.file("pytest.ini", "[pytest]\ntestpaths = cases\nfc_model = python:echo:answer\n")
    weather.file("evals/more.fc.yaml", ONE)
    weather.file("node_modules/theirs.fc.yaml", ONE)
    weather.run().stdout.fnmatch_lines(
        [HEAD, "  evals/more.fc.yaml: run `pytest evals`, or add evals to testpaths", "fcall: *"], consecutive=True
    )
    weather.run("cases").stdout.no_fnmatch_line("not collected*")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("evals/docker.yaml", "cases:\n  - {image: postgres}\n"),
        ("evals/prompts.yaml", "prompt: Say hello.\n"),
        ("evals/shop.tools.yaml", ONE),
        ("evals/data.json", '{"cases": [1, 2]}'),
        ("evals/notes.txt", ONE),
    ],
)
def test_other_files_are_not_named(weather: Shop, name: str, text: str) -> None:
    weather.file(name, text)
    weather.ask().stdout.no_fnmatch_line("not collected*")


def test_only_folders_of_the_run_are_looked_into(weather: Shop) -> None:
    weather.file("evals/extra.yaml", ONE)
    weather.ask("cases").stdout.no_fnmatch_line("not collected*")
    weather.file("cases/extra.json", json.dumps({"cases": [{"prompt": "hello"}]}))
    weather.ask("cases/weather.fc.yaml").stdout.no_fnmatch_line("not collected*")


def test_a_run_without_cases_is_left_alone(shop: Shop) -> None:
    shop.file("test_plain.py", "def test_it(): pass\n")
    shop.file("evals/extra.yaml", ONE)
    shop.run().stdout.no_fnmatch_line("not collected*")


def test_many_are_counted(weather: Shop) -> None:
    for number in range(7):
        weather.file(f"evals/e{number}.yaml", ONE)
    weather.ask().stdout.fnmatch_lines(
        ["not collected, but look like case files:", *[f"  evals/e{n}.yaml: *" for n in range(5)], "  and 2 more"],
        consecutive=True,
    )


def test_a_file_that_is_named_on_the_command_line_needs_no_special_name(shop: Shop) -> None:
    shop.file("evals/extra.yaml", ONE)
    shop.ask("evals/extra.yaml").assert_outcomes(passed=1)
    shop.ask("evals/extra.yaml::one").assert_outcomes(passed=1)


def test_a_file_of_somebody_else_is_left_alone_also_where_it_is_named(shop: Shop) -> None:
    shop.file("evals/other.yaml", "test_name: theirs\nstages: []\n")
    result = shop.pytester.runpytest(*QUIET, "evals/other.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: not found: *other.yaml*"])


@pytest.mark.nightly  # test_ini_fc_files has such names
def test_what_is_renamed_as_it_says_is_collected(weather: Shop) -> None:
    text = json.dumps({"cases": [{"id": "one", "prompt": "hello", "expect": "no_call"}]})
    weather.file("evals/extra.fc.yaml", text)
    weather.ask("evals").assert_outcomes(passed=1)
    assert fcall(Path(weather.pytester.path), "lint", "evals").returncode == 0

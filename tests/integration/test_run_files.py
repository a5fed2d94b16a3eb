"""Each run is kept in a file, where `fcall compare` and others find it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_fcall.reporting.result_json import results_from_json
from pytest_fcall.tracking.run_file import RunFile, read_run, run_paths
from tests.by_night import by_night
from tests.integration.conftest import Shop


def runs(shop: Shop) -> list[RunFile]:
    return [read_run(path) for path in run_paths(shop.pytester.path)]


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_a_run_is_kept_with_all_that_decides_how_it_ends(weather: Shop, workers: str) -> None:
    weather.ask("--fc-gate=accuracy >= 0.4 and cases>=1", "--fc-fail=both", workers)
    (run,) = runs(weather)
    assert (run.gates, run.fail) == (("accuracy >= 0.4", "cases>=1"), "both")
    assert run.failed == {
        "verdicts": True,
        "forbidden": False,
        "otherwise": False,
        "worse": False,
        "undecided": False,
        "unanswered": False,
        "unrecorded": False,
    }
    assert run.models == ("python:echo:answer",)
    assert not run.broken_off
    statuses = {result.case: result.status for result in results_from_json(run.results).results}
    assert statuses == {"celsius": "passed", "fahrenheit": "failed"}


@pytest.mark.needs("git")
def test_it_knows_its_revision(weather: Shop) -> None:
    folder = weather.pytester.path
    for command in (["init", "-q", "-b", "prompts"], ["add", "echo.py"], ["commit", "-q", "-m", "Echo"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *command], cwd=folder, check=True)
    weather.ask()
    told = runs(weather)[0].provenance
    assert {"branch": "prompts", "dirty": False}.items() <= told.items()
    assert {"commit", "pytest_fcall", "python"} <= told.keys()


def test_a_run_that_was_broken_off_says_so(weather: Shop) -> None:
    weather.ask("-x")
    assert runs(weather)[0].broken_off


@pytest.mark.parametrize(("ini", "kept"), [("fc_runs = 2", 2), by_night("", 3), by_night("fc_runs = 0", 0)])
def test_the_configuration_says_how_many_are_kept(weather: Shop, ini: str, kept: int) -> None:
    weather.pytester.makeini(f"[pytest]\n{ini}\n")
    for _ in range(3):
        weather.ask()
    assert len(runs(weather)) == kept


@pytest.mark.parametrize("number", ["many", "-1", "9999999"])
def test_what_is_no_number_of_runs_is_a_usage_error(weather: Shop, number: str) -> None:
    weather.pytester.makeini(f"[pytest]\nfc_runs = {number}\n")
    result = weather.ask()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: fc_runs: '{number}' must be a number of runs to keep"])


@pytest.mark.parametrize("option", ["--collect-only", "--fc-dry-run"])
def test_where_nothing_ran_nothing_is_kept(weather: Shop, option: str) -> None:
    weather.ask(option)
    assert runs(weather) == []


def test_tests_without_cases_leave_nothing(shop: Shop) -> None:
    shop.pytester.makepyfile(test_plain="def test_nothing(): pass")
    shop.ask()
    assert runs(shop) == []


def test_a_run_that_cannot_be_kept_is_as_good(weather: Shop) -> None:
    blocked: Path = weather.pytester.path / ".fcall"
    blocked.mkdir()
    (blocked / "runs").write_text("in the way")
    result = weather.ask("-k", "celsius")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["this run is not kept: *"])


def test_where_it_is_kept_is_told_on_demand(weather: Shop) -> None:
    weather.ask("-v").stdout.fnmatch_lines(["kept as .fcall/runs/*.json"])
    weather.ask().stdout.no_fnmatch_line("*kept as*")

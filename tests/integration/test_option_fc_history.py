"""Runs of other machines, such as those of CI, count as evidence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_fcall.tracking.run_file import runs_folder
from tests.integration.command import fcall_here
from tests.integration.mind import RIGHT, WRONG, Mind, Said

ONCE = "--fc-confirm=auto 0%"
"""Asks nothing again, and decides nothing that chance may explain."""


@pytest.fixture
def accepted(mind: Mind) -> Mind:
    """A case that was right, and is accepted. Of the run nothing else is kept."""
    mind.cases("one")
    mind.run("--fc-accept")
    shutil.rmtree(runs_folder(mind.path))
    return mind


def ran_elsewhere(mind: Mind, *said: Said, folder: str = "ci") -> Path:
    """Run once for each of what is said, and keep the files of these runs in another folder alone."""
    for each in said:
        mind.says({"one": each})
        mind.run(ONCE)
    target = mind.path / folder / "artifact"
    target.mkdir(parents=True, exist_ok=True)
    for path in runs_folder(mind.path).iterdir():
        shutil.move(path, target / path.name)
    return mind.path / folder


def test_a_case_that_is_wrong_now_and_then_elsewhere_is_flaky_here(accepted: Mind) -> None:
    ran_elsewhere(accepted, WRONG, RIGHT)
    accepted.says({"one": WRONG})

    here = accepted.run(ONCE)
    shutil.rmtree(runs_folder(accepted.path))
    with_others = accepted.run(ONCE, "--fc-history=ci", "-rx")

    here.assert_outcomes(failed=1)
    assert here.ret == 10
    with_others.assert_outcomes(xfailed=1)
    with_others.stdout.fnmatch_lines(["XFAIL *::one - flaky: 2/3 right before, 0/1 now (p = *"])
    assert with_others.ret == pytest.ExitCode.OK


def test_a_case_that_was_often_right_elsewhere_regresses_sooner(accepted: Mind) -> None:
    ran_elsewhere(accepted, *[RIGHT] * 5)
    accepted.says_in_turn("one", WRONG)

    result = accepted.run("--fc-history=ci")

    result.stdout.fnmatch_lines(["  regressed: 6/6 right before, 0/? now (p = *"])
    with_others = accepted.asked()["one"]
    shutil.rmtree(runs_folder(accepted.path))
    accepted.count_anew()
    accepted.run()
    assert with_others < accepted.asked()["one"]


@pytest.mark.nightly  # test_option_fc_confirm continues those of runs before
def test_doubts_of_elsewhere_are_continued_here(accepted: Mind) -> None:
    ran_elsewhere(accepted, *[WRONG] * 6)
    result = accepted.run(ONCE, "--fc-history=ci")
    result.stdout.fnmatch_lines(["  regressed: 1/1 right before, 0/7 now (p = *", "1 regressed:"])


def test_a_run_that_lies_in_several_folders_counts_once(accepted: Mind) -> None:
    folder = ran_elsewhere(accepted, WRONG, RIGHT)
    shutil.copytree(folder, accepted.path / "other")
    shutil.copytree(folder / "artifact", runs_folder(accepted.path), dirs_exist_ok=True)
    accepted.says({"one": WRONG})

    result = accepted.run(ONCE, "--fc-history=ci", "--fc-history=other", "-rx")

    result.stdout.fnmatch_lines(["XFAIL *::one - flaky: 2/3 right before, 0/1 now (p = *"])


@pytest.mark.nightly  # as the unit test of measurements
def test_runs_of_an_edited_case_say_nothing(accepted: Mind) -> None:
    ran_elsewhere(accepted, WRONG, RIGHT)
    path = accepted.path / "cases" / "a.fc.yaml"
    path.write_text(path.read_text("utf-8").replace("prompt: one", "prompt: uno"), "utf-8")
    accepted.says({"uno": RIGHT})
    accepted.run("--fc-accept")
    accepted.says({"uno": WRONG})

    result = accepted.run(ONCE, "--fc-history=ci")

    result.stdout.fnmatch_lines(["  undecided: 1/1 right before, 0/1 now (p = *"])


def test_accepting_a_run_counts_what_it_was_told_of(accepted: Mind) -> None:
    ran_elsewhere(accepted, WRONG, RIGHT)
    accepted.run("--fc-accept", "--fc-history=ci")
    assert accepted.measured() == {"one": (3, 4)}


def test_files_that_are_no_runs_are_passed_over(accepted: Mind) -> None:
    folder = ran_elsewhere(accepted, WRONG, RIGHT)
    for name, content in {"a.json": b"{", "b.json": b"[]", "z.json": b"\xff", "notes.txt": b"?"}.items():
        (folder / name).write_bytes(content)
    accepted.says({"one": WRONG})

    result = accepted.run(ONCE, "--fc-history=ci", "-rx")

    result.stdout.fnmatch_lines(["XFAIL *::one - flaky: 2/3 right before, 0/1 now (p = *"])


@pytest.mark.nightly  # the same as above, in a worker
def test_workers_read_it_too(accepted: Mind) -> None:
    ran_elsewhere(accepted, WRONG, RIGHT)
    accepted.says({"one": WRONG})
    accepted.run(ONCE, "-n1", "--fc-history=ci").assert_outcomes(xfailed=1)


def test_the_configuration_may_name_folders_from_the_root(accepted: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
    ran_elsewhere(accepted, WRONG)
    ran_elsewhere(accepted, RIGHT, folder="more")
    accepted.shop.file("pytest.ini", "[pytest]\nfc_history =\n    ci\n    more\n")
    accepted.says({"one": WRONG})
    monkeypatch.chdir(accepted.path / "cases")

    result = accepted.run(ONCE, "-rx")

    result.stdout.fnmatch_lines(["XFAIL *::one - flaky: 2/3 right before, 0/1 now (p = *"])


def test_what_is_accepted_afterwards_is_measured_with_the_runs_that_the_run_has_read(accepted: Mind) -> None:
    ran_elsewhere(accepted, WRONG)
    accepted.says({"one": RIGHT})
    accepted.run("--fc-history=ci")

    assert fcall_here(accepted.path, "accept").returncode == 0

    assert accepted.measured() == {"one": (2, 3)}


def test_a_folder_that_is_not_there_is_a_mistake(accepted: Mind) -> None:
    result = accepted.run("--fc-history=nowhere")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--fc-history: *nowhere is no folder*"])

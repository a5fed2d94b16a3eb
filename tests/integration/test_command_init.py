from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.command import fcall, run_pytest

WRITTEN = {
    "cases/first.fc.yaml",
    "tools.py",
    "agent.py",
    "conftest.py",
    ".github/workflows/tool-calls.yml",
}


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_an_empty_folder_gets_a_suite_that_is_green(tmp_path: Path) -> None:
    done = fcall(tmp_path, "init")
    assert (done.returncode, done.stderr) == (0, "")
    assert contents(tmp_path).keys() == WRITTEN
    ran = run_pytest(tmp_path, "-p", "no:cacheprovider", "-rA")
    assert ran.returncode == 0, ran.stdout
    assert "6 passed" in ran.stdout
    for case in ("celsius", "two_cities", "thanks", "dinner", "capital[oslo]", "capital[paris]"):
        assert f"PASSED cases/first.fc.yaml::{case}" in ran.stdout


@pytest.mark.nightly  # its cases pass, above
def test_what_it_leaves_is_free_of_faults(tmp_path: Path) -> None:
    fcall(tmp_path, "init")
    done = fcall(tmp_path, "lint")
    assert (done.returncode, done.stdout) == (0, "6 cases in 1 file: no faults\n")


def test_a_model_named_on_the_command_line_is_asked_instead(tmp_path: Path) -> None:
    fcall(tmp_path, "init")
    (tmp_path / "mute.py").write_text("def answer(request):\n    return 'I do not know'\n", encoding="utf-8")
    ran = run_pytest(tmp_path, "-p", "no:cacheprovider", "--fc-model=python:mute:answer")
    assert ran.returncode == 1
    assert "5 failed, 1 passed" in ran.stdout


def test_a_model_on_the_command_line_that_cannot_be_asked_is_one_usage_error(tmp_path: Path) -> None:
    fcall(tmp_path, "init")
    ran = run_pytest(tmp_path, "-p", "no:cacheprovider", "--fc-model=python:agnt:answer")
    assert ran.returncode == 4
    assert "--fc-model: python:agnt:answer: no module 'agnt'" in ran.stderr


def test_the_next_three_commands_are_told(tmp_path: Path) -> None:
    told = fcall(tmp_path, "init").stdout.partition("Next:\n")[2].splitlines()
    assert [line.strip() for line in told[::2]] == ["pytest", "fcall lint", "pytest --fc-model=python:MODULE:FUNCTION"]


def test_a_folder_can_be_named_and_need_not_exist(tmp_path: Path) -> None:
    done = fcall(tmp_path, "init", "evals/first")
    assert done.returncode == 0
    assert contents(tmp_path / "evals/first").keys() == WRITTEN
    assert "  cd evals/first && pytest\n" in done.stdout


def test_files_that_exist_are_left_alone_and_named(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("mine = 1\n", encoding="utf-8")
    (tmp_path / "agent.py").symlink_to(tmp_path / "nowhere.py")
    done = fcall(tmp_path, "init")
    assert done.returncode == 0
    assert "exists already, not changed: conftest.py\n" in done.stdout
    assert "exists already, not changed: agent.py\n" in done.stdout
    assert "wrote tools.py\n" in done.stdout
    assert (tmp_path / "conftest.py").read_text(encoding="utf-8") == "mine = 1\n"
    assert not (tmp_path / "nowhere.py").exists()


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    fcall(tmp_path, "init")
    before = contents(tmp_path)
    done = fcall(tmp_path, "init")
    assert done.returncode == 0
    assert "wrote" not in done.stdout
    assert contents(tmp_path) == before


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "cases").write_text("a file", encoding="utf-8")
    done = fcall(tmp_path, "init")
    assert done.returncode == 2
    assert "fcall init: error: cannot write cases: " in done.stderr
    assert "Traceback" not in done.stderr

"""`fc_outside`: what case files may name outside of the root folder."""

from __future__ import annotations

from pathlib import Path

import pytest

CASES = """
tools: [{name: f, parameters: {properties: {x: {type: string}}}}]
cases:
  - {id: one, prompt: {file: %s}, expect: no_call}
"""
APP = """
import pytest

@pytest.fixture
def fc_model():
    return lambda prompt: f"heard {prompt}"
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """The root folder `own`, beside a folder `shared`."""
    for name in ("own", "shared"):
        (pytester.path / name).mkdir()
    (pytester.path / "shared/hello.txt").write_text("Hello")
    (pytester.path / "own/conftest.py").write_text(APP)
    (pytester.path / "own/a.fc.yaml").write_text(CASES % "../shared/hello.txt")
    (pytester.path / "own/pytest.ini").write_text("[pytest]\n")
    pytester.chdir()
    return pytester


def run(project: pytest.Pytester) -> pytest.RunResult:
    return project.runpytest("--rootdir=own", "-c", "own/pytest.ini", "own")


def test_a_file_elsewhere_is_a_fault_that_says_where_it_is_and_what_allows_it(project: pytest.Pytester) -> None:
    result = run(project)
    result.assert_outcomes(errors=1)
    told = "*a.fc.yaml:4:*`../shared/hello.txt` is */shared/hello.txt, *outside of the root folder*"
    result.stdout.fnmatch_lines([told])
    result.stdout.fnmatch_lines(["*fc_outside = FOLDER*"])


@pytest.mark.parametrize("allowed", ["../shared", "../shared/hello.txt", "~/shared"])
def test_it_is_read_where_the_configuration_allows_it(
    project: pytest.Pytester, allowed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project.path))
    monkeypatch.setenv("USERPROFILE", str(project.path))
    Path("own/pytest.ini").write_text(f"[pytest]\nfc_outside =\n    {allowed}\n")
    run(project).assert_outcomes(passed=1)


def test_other_folders_stay_closed(project: pytest.Pytester) -> None:
    Path("other").mkdir()
    Path("own/pytest.ini").write_text("[pytest]\nfc_outside = ../other\n")
    run(project).assert_outcomes(errors=1)

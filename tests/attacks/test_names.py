"""Names of case files, folders and cases that mean something else to pytest, to a shell or to a terminal."""

from __future__ import annotations

import sys

import pytest

from tests.integration.command import fcall, run_pytest

CASES = """
tools: [{name: f, parameters: {properties: {x: {type: string}}}}]
cases:
  - {id: %s, prompt: hi, expect: [{f: {x: a}}]}
"""
APP = """
import pytest

@pytest.fixture
def fc_model():
    return lambda prompt: [{"name": "f", "arguments": {"x": "a"}}]
"""
NAMES = {
    "spaces": "a b",
    "a dash": "-x",
    "an option": "--fc-accept",
    "a line break": "a\nb",
    "quotes": "a'\"`",
    "a backslash": "a\\b",
    "other scripts": "é日本",
    "from right to left": "a\u202eb",
    "signs of a shell": "$(x);&|",
    "signs of a glob": "a*?",
    "a percent": "a%20%s",
    "one bracket": "a]",
    "one colon": "a:b",
    "braces": "{now}",
}
TAKEN_FOR_IDS = {"brackets": "a[1]", "two colons": "a::b", "an escape": "a\x1b[31m", "one bracket": "a["}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="such names are not allowed there")


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]")
    pytester.makeconftest(APP)
    return pytester


def write(project: pytest.Pytester, name: str, id_: str = "one") -> None:
    path = project.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(CASES % id_, encoding="utf-8")


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_file_runs_by_its_name_its_folder_and_its_cases(project: pytest.Pytester, name: str) -> None:
    file = f"cases/{name}/{name}.fc.yaml"
    write(project, file)
    for argument in (f"{file}::one", f"cases/{name}"):
        project.runpytest(argument).assert_outcomes(passed=1)


@pytest.mark.parametrize("name", TAKEN_FOR_IDS.values(), ids=TAKEN_FOR_IDS)
def test_a_name_that_pytest_takes_for_an_id_runs_with_its_folder_and_is_told_else(
    project: pytest.Pytester, name: str
) -> None:
    file = f"cases/{name}.fc.yaml"
    write(project, file)
    project.runpytest("cases").assert_outcomes(passed=1)
    for argument in (file, f"{file}::one"):
        result = project.runpytest(argument)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(
            ["ERROR: *for the beginning of an id; rename the file, or run its folder: pytest cases"]
        )
        assert "\x1b[31m" not in result.stderr.str()


@pytest.mark.parametrize("name", [*TAKEN_FOR_IDS.values(), "a\nb"], ids=[*TAKEN_FOR_IDS, "a line break"])
def test_lint_says_that_such_a_name_cannot_be_given_to_pytest(project: pytest.Pytester, name: str) -> None:
    write(project, f"cases/{name}.fc.yaml")
    done = fcall(project.path, "lint", "cases")
    assert done.returncode == 1
    assert "hint: rename the file or its folder" in done.stdout
    assert "\x1b[31m" not in done.stdout


def test_a_folder_with_such_a_name_is_told_too(project: pytest.Pytester) -> None:
    write(project, "cases/a[1]/a.fc.yaml")
    project.runpytest("cases").assert_outcomes(passed=1)
    assert "bad-path" in fcall(project.path, "lint", "--format=json", "cases").stdout


def test_ids_with_models_in_brackets_are_none_of_that(project: pytest.Pytester) -> None:
    write(project, "cases/a.fc.yaml")
    result = project.runpytest("cases/a.fc.yaml::one[openai:a::b]")
    assert "rename" not in result.stderr.str()


IDS = {
    "a slash": "a/b",
    "a backslash": "a\\b",
    "spaces": "a b",
    "other scripts": "é日本",
    "signs of a shell": "$(x);&|*?",
    "a dash": "-k",
    "a comma": "a,b",
    "one colon": "a:b",
    "a percent": "%s%20",
    "braces": "{x}",
    "an at": "@a",
}
BAD_IDS = {
    "two colons": "a::b",
    "brackets": "a[1]",
    "one bracket": "a]",
    "a line break": "a\\nb",
    "an escape": "a\\e[31m",
    "from right to left": "a\\u202eb",
    "10,000 characters": "x" * 10_000,
    "nothing": "",
    "spaces around": " a ",
}


@pytest.mark.parametrize("id_", IDS.values(), ids=IDS)
def test_a_case_is_found_by_its_id_and_again_when_it_failed(project: pytest.Pytester, id_: str) -> None:
    write(project, "a.fc.yaml", f"'{id_}'")
    project.runpytest(f"a.fc.yaml::{id_}").assert_outcomes(passed=1)
    (project.path / "conftest.py").write_text(APP.replace('"a"}', '"b"}'))
    project.makepyfile("def test_fine(): pass")
    project.runpytest().assert_outcomes(passed=1, failed=1)
    project.runpytest("--lf").assert_outcomes(failed=1)


@pytest.mark.parametrize("id_", BAD_IDS.values(), ids=BAD_IDS)
def test_an_id_that_nobody_could_name_is_a_fault(project: pytest.Pytester, id_: str) -> None:
    write(project, "a.fc.yaml", f'"{id_}"')
    result = run_pytest(project.path)
    assert "1 error" in result.stdout
    assert "a.fc.yaml:4:" in result.stdout
    assert "\x1b[31m" not in result.stdout
    assert "x" * 300 not in result.stdout

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from tests.by_night import by_night
from tests.integration.command import fcall_here, run_pytest

GOOD = """
tools:
  - name: get_weather
    parameters: {type: object, properties: {city: {type: string}}, required: [city]}
cases:
  - {id: oslo, prompt: Weather in Oslo, expect: [{get_weather: {city: Oslo}}]}
  - {id: rome, prompt: Weather in Rome, expect: [{get_weather: {city: Rome}}]}
"""
MISSPELT = GOOD.replace("{city: Rome}", "{town: Rome}")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text), encoding="utf-8")
    return path


def test_sound_files_are_summed_up_in_one_line(tmp_path: Path) -> None:
    write(tmp_path / "cases/a.fc.yaml", GOOD)
    write(tmp_path / "cases/b.yaml", GOOD)
    done = fcall_here(tmp_path, "lint", "cases")
    assert (done.returncode, done.stdout, done.stderr) == (0, "4 cases in 2 files: no faults\n", "")


def test_a_fault_is_shown_with_its_place_and_a_suggestion(tmp_path: Path) -> None:
    write(tmp_path / "cases/a.fc.yaml", MISSPELT)
    done = fcall_here(tmp_path, "lint", "cases/a.fc.yaml")
    assert done.returncode == 1
    assert done.stdout.startswith("cases/a.fc.yaml:7:")
    assert "town" in done.stdout
    assert "^" in done.stdout
    assert "hint: " in done.stdout
    assert done.stdout.splitlines()[-1].startswith("2 cases in 1 file: ")


def test_folders_are_searched_for_what_pytest_would_collect(tmp_path: Path) -> None:
    for name in ("a.fc.yaml", "deep/er/b.fc.yml", "cases/c.yaml", "cases/deep/d.yml"):
        write(tmp_path / name, GOOD)
    for name in (
        "not_cases.yaml",
        "deep/cases/e.yaml",
        "cases/shared.tools.yaml",
        "cases/__fcall__/f.fc.yaml",
        ".git/g.fc.yaml",
        "node_modules/h.fc.yaml",
    ):
        write(tmp_path / name, MISSPELT)
    write(tmp_path / "cases/other.yaml", "some: data\n")
    done = fcall_here(tmp_path, "lint")
    assert (done.returncode, done.stdout) == (0, "8 cases in 4 files: no faults\n")


def test_the_root_is_where_the_project_is_configured(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "")
    write(tmp_path / "cases/a.yaml", MISSPELT)
    done = fcall_here(tmp_path / "cases", "lint", ".")
    assert done.stdout.startswith("cases/a.yaml:7:")


@pytest.mark.parametrize("name", ["promised.fc.yaml", "cases/named.yaml"])
def test_a_file_without_cases_is_a_fault_where_its_name_or_a_person_says_otherwise(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, "some: data\n")
    done = fcall_here(tmp_path, "lint", name)
    assert done.returncode == 1
    assert done.stdout.startswith(f"{name}:1:1: ")


def test_an_unreadable_file_does_not_hide_the_others(tmp_path: Path) -> None:
    write(tmp_path / "cases/a.fc.yaml", "cases: [\n")
    write(tmp_path / "cases/b.fc.yaml", MISSPELT)
    (tmp_path / "cases/c.fc.yaml").write_bytes(b"\x00\x01\xff")
    done = fcall_here(tmp_path, "lint")
    assert done.returncode == 1
    for name in ("a", "b", "c"):
        assert f"cases/{name}.fc.yaml:" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_json_is_for_programs(tmp_path: Path) -> None:
    write(tmp_path / "cases/a.fc.yaml", MISSPELT)
    done = fcall_here(tmp_path, "lint", "--format=json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["files"], found["cases"]) == (1, 2)
    location = found["faults"][0]["location"]
    assert (location["path"], location["line"]) == ("cases/a.fc.yaml", 7)
    assert found["faults"][0].keys() == {"code", "location", "message", "source", "hint"}


def test_json_of_sound_files_has_no_faults(tmp_path: Path) -> None:
    write(tmp_path / "cases/a.fc.yaml", GOOD)
    done = fcall_here(tmp_path, "lint", "--format=json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"files": 1, "cases": 2, "faults": []})


def test_github_gets_one_annotation_a_fault(tmp_path: Path) -> None:
    write(tmp_path / "cases/a,b.fc.yaml", MISSPELT)
    done = fcall_here(tmp_path, "lint", "--format=github")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines
    for line in lines:
        assert line.startswith("::error file=cases/a%2Cb.fc.yaml,line=7,col=")


def test_hostile_text_can_end_neither_the_annotation_nor_the_line(tmp_path: Path) -> None:
    write(tmp_path / "cases/a.fc.yaml", GOOD.replace("{city: Rome}", '{"a\\n::error::b\\e[31m%": Rome}'))
    github = fcall_here(tmp_path, "lint", "--format=github")
    assert github.returncode == 1
    assert all(line.startswith("::error file=cases/") for line in github.stdout.splitlines())
    assert "\x1b" not in github.stdout + fcall_here(tmp_path, "lint").stdout


def test_sound_files_give_github_nothing(tmp_path: Path) -> None:
    write(tmp_path / "cases/a.fc.yaml", GOOD)
    done = fcall_here(tmp_path, "lint", "--format=github")
    assert (done.returncode, done.stdout) == (0, "")


CONFTEST = """
def pytest_fcall_comparators(config):
    return {"capital": lambda operand, options, got: None}

def pytest_fcall_decoders(config):
    return {"mine": lambda reply, tools: []}

def pytest_fcall_tool_sources(config):
    from pytest_fcall import Tool

    return {"shelf": lambda source, context: [Tool(source["shelf"], "", {"type": "object", "properties": {}})]}
"""


@pytest.mark.parametrize("conftest", [by_night("conftest.py"), "cases/conftest.py"])
def test_what_conftest_files_add_is_known(tmp_path: Path, conftest: str) -> None:
    text = GOOD.replace("{city: Rome}", "{city: {$capital: it}}").replace("cases:", "defaults: {decoder: mine}\ncases:")
    write(tmp_path / "cases/a.fc.yaml", text)
    unknown = fcall_here(tmp_path, "lint")
    assert unknown.returncode == 1
    assert "$capital" in unknown.stdout
    assert "mine" in unknown.stdout
    write(tmp_path / conftest, CONFTEST)
    assert fcall_here(tmp_path, "lint").stdout == "2 cases in 1 file: no faults\n"


def test_decoders_are_known_by_name(tmp_path: Path) -> None:
    write(tmp_path / "cases/a.fc.yaml", GOOD.replace("cases:", "defaults: {decoder: jsn}\ncases:"))
    assert "did you mean `json`?" in fcall_here(tmp_path, "lint").stdout


def test_files_are_collected_as_the_configuration_says(tmp_path: Path) -> None:
    write(tmp_path / "pytest.ini", "[pytest]\nfc_files = exams/*.yaml\npythonpath = src\ntestpaths = exams\n")
    write(tmp_path / "src/shop.py", "def buy(item: str) -> None:\n    '''Buy.'''\n")
    cases = "tools: [{python: shop:buy}]\ncases: [{id: a, prompt: Hi, expect: no_call}]\n"
    write(tmp_path / "exams/a.yaml", cases)
    write(tmp_path / "cases/b.yaml", MISSPELT)
    write(tmp_path / "more/c.fc.yaml", MISSPELT)
    done = fcall_here(tmp_path, "lint")
    assert (done.returncode, done.stdout) == (0, "1 case in 1 file: no faults\n")
    assert "more/c.fc.yaml: run `pytest more`, or add more to testpaths" in done.stderr
    assert fcall_here(tmp_path, "lint", "more").returncode == 1


@pytest.mark.parametrize("addopts", [by_night("-v"), "-k oslo -x", by_night("-n 2")])
def test_the_faults_are_those_that_pytest_finds(tmp_path: Path, addopts: str) -> None:
    write(tmp_path / "pytest.ini", f"[pytest]\naddopts = {addopts}\nfc_model = python:a:b\n  python:c:d\n")
    write(tmp_path / "cases/a.fc.yaml", MISSPELT)
    write(tmp_path / "cases/b.fc.yaml", GOOD)
    write(tmp_path / "cases/c.fc.yaml", "cases: [\n")
    write(tmp_path / "test_plain.py", "raise RuntimeError('nobody imports this')\n")
    done = fcall_here(tmp_path, "lint")
    assert done.returncode == 1
    assert done.stdout.endswith("4 cases in 3 files: 3 faults\n")
    collected = run_pytest(tmp_path, "cases", "--collect-only", "-n0").stdout
    for block in done.stdout.split("\n\n")[:-1]:
        assert block in collected


def test_a_conftest_file_that_fails_is_said(tmp_path: Path) -> None:
    write(tmp_path / "cases/a.fc.yaml", GOOD)
    write(tmp_path / "cases/conftest.py", "import no_such_library\n")
    done = fcall_here(tmp_path, "lint")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no_such_library" in done.stderr


def test_a_setting_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    write(tmp_path / "pytest.ini", "[pytest]\nfc_samples = many\n")
    write(tmp_path / "cases/a.fc.yaml", GOOD)
    done = fcall_here(tmp_path, "lint")
    assert (done.returncode, done.stdout) == (2, "")
    assert "many" in done.stderr


def test_nothing_is_written(tmp_path: Path) -> None:
    write(tmp_path / "cases/a.fc.yaml", GOOD)
    fcall_here(tmp_path, "lint")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.fc.yaml", "cases"]


def test_modules_at_the_root_are_found(tmp_path: Path) -> None:
    write(tmp_path / "shop.py", "def buy(item: str) -> None:\n    '''Buy.'''\n")
    write(tmp_path / "cases/a.fc.yaml", "tools: [{python: shop:buy}]\ncases: [{id: a, prompt: Hi, expect: no_call}]\n")
    done = fcall_here(tmp_path, "lint", "cases")
    assert (done.returncode, done.stdout) == (0, "1 case in 1 file: no faults\n")


def test_modules_beside_a_conftest_are_found_as_pytest_finds_them(tmp_path: Path) -> None:
    fcall_here(tmp_path, "init", "evals")
    done = fcall_here(tmp_path, "lint")
    assert (done.returncode, done.stdout) == (0, "6 cases in 1 file: no faults\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "fcall lint: error: no such file or folder: nowhere"),
        (["."], "fcall lint: error: no case files found"),
        (["--format=xml"], "invalid choice: 'xml'"),
    ],
)
def test_a_wrong_command_line_is_told(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = fcall_here(tmp_path, "lint", *arguments)
    assert done.returncode == 2
    assert said in done.stderr

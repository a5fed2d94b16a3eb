"""`fcall report-bug`: what reproduces a verdict."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.integration.command import fcall_here, run_pytest

APP = """\
def get_weather(city: str):
    '''Tell the weather.'''

def answer(request):
    said = request.messages[-1]["content"]
    if "Weather" not in said:
        return "You are welcome."
    city = said.split(" in ")[1].rstrip("?")
    return [{"name": "get_weather", "arguments": {"city": city}}]
"""
CASES = """\
defaults:
  system: You are a clerk of anna.smith@shop.example.
tools:
  - python: app:get_weather
cases:
  - {id: oslo, prompt: "Weather in Oslo?", expect: [{get_weather: {city: Oslo}}]}
  - id: rome   # wrong on purpose
    prompt: Weather in Rome?
    expect:
      - get_weather: {city: Roma}
  - id: mail
    prompt: Weather in anna.smith@shop.example?
    expect: [{get_weather: {city: {$regex: "anna.*"}}}]
  - id: talk
    turns:
      - {user: "Weather in Oslo?", expect: [{get_weather: {city: Oslo}}]}
      - {user: Thanks., expect: no_call}
"""
MODEL = "--fc-model=python:app:answer"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    (folder / "pyproject.toml").touch()
    (folder / "app.py").write_text(APP, "utf-8")
    (folder / "shop.fc.yaml").write_text(CASES, "utf-8")
    run_pytest(folder, MODEL, "-q")
    return folder


def packed(project: Path, case: str, *arguments: str, status: int = 0) -> str:
    done = fcall_here(project, "report-bug", f"shop.fc.yaml::{case}", MODEL, *arguments)
    assert "Traceback" not in done.stderr
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def blocks(text: str) -> tuple[str, str]:
    case, reply = (re.search(rf"```{kind}\n(.*?)\n```", text, re.DOTALL) for kind in ("yaml", "json"))
    assert case
    assert reply
    return case[1], reply[1]


@pytest.mark.parametrize(("case", "right"), [by_night("oslo", True), ("rome", False), ("talk", True)])
def test_what_is_printed_gives_the_same_verdict_in_an_empty_folder(
    project: Path, tmp_path: Path, case: str, right: bool
) -> None:
    text = packed(project, case)
    assert "`fcall score --cases bug.fc.yaml replies.jsonl` gives this verdict." in text
    for name, block in zip(("bug.fc.yaml", "replies.jsonl"), blocks(text), strict=True):
        (tmp_path / name).write_text(block, "utf-8")
    again = fcall_here(tmp_path, "score", "--cases", "bug.fc.yaml", "--format=json", "replies.jsonl")
    assert json.loads(again.stdout)["valid"] is right
    assert again.returncode == (0 if right else 1)


def test_the_case_stands_alone_with_its_tools_and_comments(project: Path) -> None:
    case, _ = blocks(packed(project, "rome"))
    assert case.splitlines()[0] == "defaults:"
    assert 'name: "get_weather", description: "Tell the weather."' in case
    assert "# wrong on purpose" in case
    assert "python:" not in case
    assert "oslo" not in case


def test_the_verdict_and_the_versions_are_told(project: Path) -> None:
    text = packed(project, "rome")
    assert "failed\nwrong_value at calls[0].args.city: `city` is 'Rome', expected 'Roma'" in text
    assert re.search(r"pytest-fcall \S+, pytest \S+, Python 3\.", text)


def test_personal_data_is_masked_and_a_verdict_that_this_changes_is_told(project: Path) -> None:
    text = packed(project, "rome")
    assert "anna.smith" not in text
    assert "clerk of person1@example.com" in text
    text = packed(project, "mail", status=1)
    assert "anna.smith" not in text
    assert "the verdict made from this differs: masking" in text
    assert "anna.smith@shop.example" in packed(project, "mail", "--no-mask")


def test_a_key_is_masked_even_so(tmp_path: Path) -> None:
    key = "sk-proj-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "app.py").write_text(APP, "utf-8")
    (tmp_path / "shop.fc.yaml").write_text(
        CASES.replace("Weather in Rome?", f"My key is {key}. Weather in Rome?"), "utf-8"
    )
    run_pytest(tmp_path, MODEL, "-q", "-k", "rome")
    done = fcall_here(tmp_path, "report-bug", "shop.fc.yaml::rome", MODEL)
    assert "### The case" in done.stdout
    assert "sk-proj-4f9" not in done.stdout
    to_file = ("--no-mask", "-o", "bug.md")
    done = fcall_here(tmp_path, "report-bug", "shop.fc.yaml::rome", MODEL, *to_file, OPENAI_API_KEY=key)
    assert done.returncode == 0, done.stderr
    assert "sk-proj-4f9" not in (tmp_path / "bug.md").read_text("utf-8")


def test_it_goes_into_a_file(project: Path, tmp_path: Path) -> None:
    text = packed(project, "oslo", "-o", str(tmp_path / "bug.md"))
    assert "read it before you paste it" in text
    assert "### The case" in (tmp_path / "bug.md").read_text("utf-8")


def test_a_file_that_is_no_yaml_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "shop.fc.yaml").write_text("cases:\n  - {id: a, prompt: b: c}\n", "utf-8")
    done = fcall_here(tmp_path, "report-bug", "shop.fc.yaml::a", MODEL)
    assert "shop.fc.yaml:2" in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("case", "model", "told", "status"),
    [
        ("shop.fc.yaml::osla", MODEL, "there is no case 'osla' in shop.fc.yaml", 1),
        ("shop.fc.yaml::oslo", "--fc-model=openai:other", "no recorded reply of openai:other", 1),
        ("shop.fc.yaml::oslo", "--fc-model=opnai:x", "of kind 'opnai'", 1),
        ("shop.fc.yaml", MODEL, "name a case as FILE::ID", 2),
        ("nowhere.fc.yaml::oslo", MODEL, "name a case as FILE::ID", 2),
    ],
)
def test_without_a_verdict_it_is_said_why(project: Path, case: str, model: str, told: str, status: int) -> None:
    done = fcall_here(project, "report-bug", case, model)
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == status

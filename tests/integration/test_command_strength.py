from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from tests.integration.command import fcall, run_pytest

CASES = """
tools:
  - name: get_weather
    parameters:
      type: object
      properties: {city: {type: string}, unit: {enum: [celsius, fahrenheit]}}
      required: [city]
  - name: set_alarm
    parameters: {type: object, properties: {minutes: {type: integer}}, required: [minutes]}
cases:
  - id: strong
    prompt: Weather in Oslo?
    expect: [get_weather: {city: Oslo}]
  - id: weak
    tags: [slow]
    prompt: Wake me in 10 minutes.
    expect:
      - set_alarm:
          minutes: {$type: integer}
"""
STRONG = CASES.replace("{$type: integer}", "10")
JUDGED = """
cases:
  - {id: polite, prompt: Hello, answer: {$judge: is polite}}
"""
CONTRADICTORY = CASES.replace(
    "expect: [get_weather: {city: Oslo}]", "expect: {calls: [set_alarm: {minutes: 1}], never: [set_alarm]}"
)


def write(folder: Path, text: str, name: str = "cases/a.fc.yaml") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(dedent(text), encoding="utf-8")


def test_survivors_are_told_with_the_line_that_lets_them_pass_and_an_edit(tmp_path: Path) -> None:
    write(tmp_path, CASES)
    done = fcall(tmp_path, "strength", "cases", COLUMNS="80")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("cases/a.fc.yaml:19: `$type` costs ")
    assert lines[0].endswith(" points (weak)")
    assert "lets pass: number changed (minutes: 10 → 11)" in lines[1]
    assert "such as `minutes: 10`" in done.stdout
    assert lines[-1].startswith("strength 9")
    assert " of 2 cases: " in lines[-1]
    assert max(map(len, lines[:-1])) <= 80
    assert done.stdout == fcall(tmp_path, "strength", "cases", COLUMNS="80").stdout


def test_the_edit_that_is_named_makes_the_case_strong(tmp_path: Path) -> None:
    write(tmp_path, STRONG)
    done = fcall(tmp_path, "strength", "--min=100%")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("strength 100.0 % of 2 cases: ")


@pytest.mark.parametrize(
    ("text", "options", "status"),
    [
        (CASES, ("--min=0.999",), 1),
        (CASES, ("--min=50%", "--min-case=95%"), 1),
        (CASES, ("--min=99.9%", "-k", "strong"), 0),
        (JUDGED, (), 10),
        (CONTRADICTORY, ("--min=1%",), 1),
        (CASES.replace("city: Oslo", "town: Oslo"), (), 1),
        (CASES, ("--min=900%",), 2),
        (CASES, ("nowhere",), 2),
    ],
)
def test_the_exit_status_says_whether_the_cases_are_strong_enough(
    tmp_path: Path, text: str, options: tuple[str, ...], status: int
) -> None:
    write(tmp_path, text)
    done = fcall(tmp_path, "strength", *options)
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_options_that_choose_no_case_are_told(tmp_path: Path) -> None:
    write(tmp_path, CASES)
    done = fcall(tmp_path, "strength", "-m", "nosuch")
    assert done.returncode == 2
    assert "no case matches -m nosuch, of 2 cases\n" in done.stderr


def test_what_is_not_measured_and_what_contradicts_itself_is_told(tmp_path: Path) -> None:
    write(tmp_path, CONTRADICTORY)
    write(tmp_path, JUDGED, "cases/b.fc.yaml")
    done = fcall(tmp_path, "strength")
    said = " ".join(done.stdout.split())
    assert "a.fc.yaml:11: strong refuses an answer that should be right: " in said
    assert "polite: not measured, as it expects nothing but `answer` with `$judge`, which only a run" in said
    assert "2 cases not measured" in done.stdout.splitlines()[-1]


def test_figures_survivors_and_edits_are_there_as_json(tmp_path: Path) -> None:
    write(tmp_path, CASES)
    done = fcall(tmp_path, "strength", "--format=json")
    report = json.loads(done.stdout)
    assert 0.8 < report["strength"] < 1
    assert [(each["case"], each["strength"] == 1) for each in report["cases"]] == [("strong", True), ("weak", False)]
    (gap,) = report["gaps"]
    assert gap["place"] == "cases/a.fc.yaml:19"
    assert gap["expectations"][0]["written"] == "`$type`"
    assert {"mistake": "number changed", "tool": "set_alarm", "place": "minutes", "detail": "10 → 11"} in gap[
        "mistakes"
    ]
    assert {each["tool"] for each in report["tools"]} == {"get_weather", "set_alarm"}


def test_values_left_open_are_taken_from_accepted_answers(tmp_path: Path) -> None:
    write(tmp_path, CASES.replace("{$type: integer}", "{$ignore: true}"))
    answer = '[{"name": "set_alarm", "arguments": {"minutes": 25}}]'
    (tmp_path / "echo.py").write_text(f"def answer(request):\n    return {answer}\n", encoding="utf-8")
    accepted = run_pytest(tmp_path, "--fc-model=python:echo:answer", "--fc-accept", "-k", "weak", CI="")
    assert accepted.returncode == 0, accepted.stdout
    done = fcall(tmp_path, "strength", "--model=python:echo:answer")
    assert "minutes: 25 → 26" in done.stdout

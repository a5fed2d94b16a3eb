"""Blocks of failed cases: as wide and as colourful as the terminal, and each cause once."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import DEVNULL, Popen

import pytest

from tests.by_night import by_night
from tests.integration.command import plain
from tests.integration.conftest import QUIET, Shop
from tests.integration.exam import Exam, weather_in
from tests.integration.test_inside_apps import AGENT
from tests.servers import Answer, Server
from tests.suite_tools import WITHOUT_TOOLS

RUNS = [["-n0"], ["-n1"], ["-s"]]
RED, GREEN, PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[0m"

LONG = """
cases:
  - id: long
    prompt: '[{"name": "get_weather", "arguments": {"city": "Llanfairpwllgwyngyllgogerychwyrndrobwllllanty"}}]'
    expect: [{get_weather: {city: Paris}}]
"""


def block(lines: Sequence[str], title: str) -> list[str]:
    """The lines below the title of a failed test."""
    (start,) = [number for number, line in enumerate(lines) if line.startswith("_") and f" {title} " in line]
    end = next(number for number, line in enumerate(lines) if number > start and line.startswith(("---", "===", "___")))
    return [*lines[start + 1 : end]]


@pytest.mark.skipif(sys.platform == "win32", reason="it has no pseudo-terminals")
@pytest.mark.parametrize(
    ("arguments", "columns"),
    [(["-n1"], 60), by_night(["-n1"], 200), by_night(["-n0"], 60), by_night(["-s"], 60)],
)
def test_a_block_is_as_wide_as_the_terminal(
    shop: Shop, forked_programs: Path, arguments: list[str], columns: int
) -> None:
    import termios

    shop.cases(LONG)
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    command = [str(forked_programs / "pytest"), *QUIET, "--fc-model=python:echo:answer", "--color=no", *arguments]
    environment = {name: value for name, value in plain().items() if name not in ("COLUMNS", "CI")}
    with Popen(
        command,
        cwd=shop.pytester.path,
        env=environment | {"PYTEST_ADDOPTS": WITHOUT_TOOLS},
        stdin=DEVNULL,
        stdout=theirs,
        stderr=DEVNULL,
    ):
        os.close(theirs)
        printed = read_all(ours)

    _, asked, *_, city = block(printed.splitlines(), "long")
    assert len(asked) <= columns
    assert ("…" in asked) is (columns < 170)
    assert ("…" in city) is (columns < 80)


def read_all(terminal: int) -> str:
    """Everything that is printed on a terminal until all that print there have ended."""
    portions = []
    try:
        while portion := os.read(terminal, 65_536):
            portions.append(portion)
    except OSError:  # the end, on Linux
        pass
    os.close(terminal)
    return b"".join(portions).decode()


@pytest.mark.parametrize("arguments", [RUNS[0], *map(by_night, RUNS[1:])])
def test_a_block_has_the_colours_of_pytest(weather: Shop, arguments: list[str]) -> None:
    result = weather.ask("--color=yes", *arguments)

    printed = result.stdout.str()
    assert f"\x1b[31m\x1b[1mwrong_value: `unit` is 'celsius', expected 'fahrenheit'{PLAIN}\n" in printed
    assert f'{RED}  ✗   unit       "fahrenheit"  "celsius"{PLAIN}\n' in printed
    assert f'{GREEN}  ✓   city       "Paris"       "Paris"{PLAIN}\n' in printed
    assert "\x1b" not in weather.ask("--color=no", *arguments).stdout.str()


def test_a_block_is_the_same_in_workers_and_without_capturing(weather: Shop) -> None:
    first, *others = [block(weather.ask(*arguments).outlines, "fahrenheit") for arguments in RUNS]

    assert others == [first, first]


@pytest.mark.parametrize("arguments", [["-n0"], by_night(["-n2"]), ["-vv"]])
def test_the_short_summary_repeats_no_block(
    weather: Shop, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setenv("CI", "true")

    result = weather.ask(*arguments)

    reason = "wrong_value: `unit` is 'celsius', expected 'fahrenheit'"
    assert result.outlines.count(reason) == 1
    end = result.outlines.index(f"FAILED cases/weather.fc.yaml::fahrenheit - {reason}")
    assert "1 failed, 1 passed" in result.outlines[end + 1]


@pytest.fixture
def reworded(exam: Exam) -> Exam:
    """Three cases whose prompt has changed since their replies were recorded."""
    exam.cities("Oslo", "Rome", "Bonn")
    exam.run()
    path = exam.path / "cases/exam.fc.yaml"
    text = path.read_text("utf-8")
    path.write_text(f"defaults: {{system: You help.}}\n{text}", "utf-8")
    exam.run("--fc-record=all")
    path.write_text(f"defaults: {{system: You assist.}}\n{text}", "utf-8")
    return exam


@pytest.mark.parametrize("arguments", [by_night(["-n0"]), ["-n2"]])
def test_a_change_of_all_prompts_is_shown_once(
    reworded: Exam, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setenv("CI", "true")

    result = reworded.run("--fc-replay", *arguments)

    assert result.outlines.count("  + You assist.") == 1
    assert result.outlines.count("  and so for 2 more tests") == 1
    others = [line for line in result.outlines if line.startswith("  for the same reason as cases/exam.fc.yaml::")]
    assert len(others) == 2


@pytest.mark.nightly  # as of plain tests, below
def test_a_change_of_all_prompts_is_listed_once_where_cases_are_skipped(reworded: Exam) -> None:
    reworded.shop.file("pytest.ini", f"[pytest]\nfc_model = {reworded.named('exam')}\n")

    result = reworded.shop.run("-rs")

    result.assert_outcomes(skipped=3)
    assert result.outlines.count("  + You assist.") == 1
    assert result.outlines.count("  and so for 2 more tests") == 1


PLAIN_TESTS = """
import pytest

@pytest.mark.parametrize("city", ["Oslo", "Rome", "Bonn"])
def test_city(fc_model, city):
    reply = fc_model([{{"role": "system", "content": "{system}"}}, {{"role": "user", "content": city}}])
    assert reply.text
"""


@pytest.fixture
def reworded_tests(exam: Exam) -> Exam:
    """Three plain tests whose prompt has changed since their replies were recorded."""
    exam.shop.file("test_cities.py", PLAIN_TESTS.format(system="You help."))
    exam.run().assert_outcomes(passed=3)
    exam.shop.file("test_cities.py", PLAIN_TESTS.format(system="You assist."))
    return exam


@pytest.mark.parametrize("arguments", [["-n0"], by_night(["-n2"])])
def test_a_reply_that_plain_tests_lack_is_told_once(
    reworded_tests: Exam, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setenv("CI", "true")

    result = reworded_tests.run("--fc-replay", *arguments)

    result.assert_outcomes(failed=3)
    shown = result.outlines[: result.outlines.index(next(line for line in result.outlines if "tool calls" in line))]
    assert shown.count("  + You assist.") == 1
    assert shown.count("  and so for 2 more tests") == 1
    assert len([line for line in shown if line.startswith("  for the same reason as test_cities.py::test_city[")]) == 2
    summed_up = result.outlines[len(shown) :]
    assert summed_up.count("    + You assist.") == 1
    listed = [line for line in summed_up if line.startswith("FAILED test_cities.py::test_city[")]
    assert len(listed) == 3
    assert all(" - no recorded reply of openai:exam; to ask the model: " in line for line in listed)


def test_a_reply_that_skipped_plain_tests_lack_is_listed_once(reworded_tests: Exam) -> None:
    reworded_tests.shop.file("pytest.ini", f"[pytest]\nfc_model = {reworded_tests.named('exam')}\n")

    result = reworded_tests.shop.run("-rs")

    result.assert_outcomes(skipped=3)
    assert result.outlines.count("  + You assist.") == 1
    assert result.outlines.count("  and so for 2 more tests") == 1


@pytest.mark.parametrize("arguments", [["-n0"], by_night(["-n2"])])
def test_a_plain_test_without_an_answer_is_told_like_a_case(exam: Exam, arguments: list[str]) -> None:
    exam.always(Answer(status=401))
    exam.shop.file("test_cities.py", "def test_city(fc_model):\n    fc_model('Oslo')\n")

    (line,) = block(exam.run(*arguments).outlines, "test_city")
    assert line.startswith("openai:exam: the API key was not accepted")


def test_a_report_in_a_file_has_the_cause_of_each_case(reworded: Exam) -> None:
    reworded.run("--fc-replay", "--junitxml=report.xml")

    assert (reworded.path / "report.xml").read_text("utf-8").count("  + You assist.") == 3


def test_a_case_that_is_run_again_keeps_its_cause(reworded: Exam) -> None:
    result = reworded.run("--fc-replay", "-p", "rerunfailures", "--reruns=1")

    assert result.outlines.count("  + You assist.") == 1
    assert result.outlines.count("  and so for 2 more tests") == 1


@pytest.fixture
def pirate(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Two cases of an app that has changed its own prompt since its requests were recorded."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    shop.pytester.makepyfile(agent=AGENT)
    shop.cases(weather_in(["Oslo", "Rome"]))
    shop.run("--fc-model=python:agent:answer").assert_outcomes(passed=2)
    shop.pytester.makepyfile(agent=AGENT.replace("You know the weather.", "You are a pirate."))
    return shop


def test_a_change_of_the_prompt_of_an_app_is_shown_once(pirate: Shop) -> None:
    result = pirate.run("--fc-model=python:agent:answer", "--fc-replay")

    result.assert_outcomes(errors=2)
    errors = result.stdout.str().partition(" ERRORS =")[2].partition("\n---")[0]
    assert errors.count("+ You are a pirate.") == 1


def test_a_fault_of_a_whole_file_is_shown_once(shop: Shop) -> None:
    shop.file(
        "cases/a.fc.yaml",
        "system: You help.\ncases:\n" + "".join(f"  - {{id: c{n}, prompt: Hi, answer: Hi}}\n" for n in range(4)),
    )

    result = shop.ask()

    assert sum("hint: " in line for line in result.outlines) == 1
    assert result.outlines.count("  and so for 3 more tests") == 1

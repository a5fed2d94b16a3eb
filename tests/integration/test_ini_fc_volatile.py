"""What differs each time in requests of an app is no part of the keys of its recordings."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Shop
from tests.integration.exam import assert_errors
from tests.servers import Server, chat

APP = """
import json
import os
import urllib.error
import urllib.request


def answer(request):
    prompt = f"Today is {os.environ['TODAY']}. You know the weather."
    messages = [{"role": "system", "content": prompt}, *request.messages]
    asked = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions")
    asked.data = json.dumps({"model": "exam-1", "messages": messages}).encode()
    try:
        answered = urllib.request.urlopen(asked)
    except urllib.error.HTTPError as refused:
        refused.close()
        raise
    with answered:
        message = json.loads(answered.read())["choices"][0]["message"]
    return [dict(each["function"]) for each in message.get("tool_calls") or ()]
"""
CASES = """
cases:
  - id: oslo
    prompt: Weather in Oslo?
    expect: [{get_weather: {city: Oslo}}]
"""
DAY = r"\d{4}-\d\d-\d\d"


class Calendar:
    def __init__(self, shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shop = shop
        self.server = server
        self.monkeypatch = monkeypatch
        server.default = lambda _: chat(calls=[("get_weather", {"city": "Oslo"})])
        shop.file("agent.py", APP)
        shop.cases(CASES)

    def run(self, day: str, *args: str) -> pytest.RunResult:
        self.monkeypatch.setenv("TODAY", day)
        return self.shop.run("--fc-model=python:agent:answer", *args)


@pytest.fixture
def calendar(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Calendar:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    return Calendar(shop, server, monkeypatch)


def test_a_missing_recording_says_which_pattern_would_help_and_with_it_replays_go_on(calendar: Calendar) -> None:
    calendar.run("2026-11-22").assert_outcomes(passed=1)
    later = calendar.run("2026-11-23", "--fc-replay")
    later.assert_outcomes(errors=1)
    assert_errors(
        later,
        "python:agent:answer: request 1 to exam-1 is not recorded",
        "the prompt changed (system message):",
        "  - Today is 2026-11-22. You know the weather.",
        "  + Today is 2026-11-23. You know the weather.",
        rf"if this differs each time: fc_volatile = {DAY}",
        'record it: pytest --fc-model=python:agent:answer "cases/weather.fc.yaml::oslo"',
    )
    calendar.shop.file("pytest.ini", f"[pytest]\nfc_volatile = {DAY}\n")
    calendar.run("2026-11-24").assert_outcomes(passed=1)
    for workers in ("-n0", "-n2"):
        replayed = calendar.run("2026-11-25", "--fc-replay", "-v", workers)
        replayed.assert_outcomes(passed=1)
        replayed.stdout.fnmatch_lines(
            [rf"python:agent:answer: fc_volatile {DAY.replace('[', '[[]')} matched in 1 request"]
        )
    asked = [each.json["messages"][0]["content"] for each in calendar.server.asked]
    assert asked == [f"Today is 2026-11-{day}. You know the weather." for day in (22, 24)]


def test_a_pattern_may_be_that_of_one_model(calendar: Calendar) -> None:
    calendar.shop.file("pyproject.toml", f"[tool.fcall.models.\"python:agent:answer\"]\nvolatile = ['{DAY}']\n")
    for day in ("2026-11-22", "2026-11-23"):
        calendar.run(day).assert_outcomes(passed=1)
    assert len(calendar.server.asked) == 1


def test_a_pattern_that_matches_nothing_is_told(calendar: Calendar) -> None:
    calendar.shop.file("pytest.ini", f"[pytest]\nfc_volatile =\n    {DAY}\n    Monday\n")
    result = calendar.run("2026-11-22")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["fc_volatile: Monday matched in no request of this run"])
    result.stdout.no_fnmatch_line(r"fc_volatile: \d*")


@pytest.mark.parametrize(
    ("pattern", "told"),
    [("(", "fc_volatile: '(' is not a valid regular expression*"), ("x*", "fc_volatile: 'x[*]' also matches where*")],
)
def test_a_pattern_that_cannot_be_used_is_told_before_anything_runs(
    calendar: Calendar, pattern: str, told: str
) -> None:
    calendar.shop.file("pytest.ini", f"[pytest]\nfc_volatile = {pattern}\n")
    result = calendar.run("2026-11-22")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{told}"])


def test_patterns_of_a_model_are_a_list(calendar: Calendar) -> None:
    calendar.shop.file("pyproject.toml", '[tool.fcall.models."python:agent:answer"]\nvolatile = "x"\n')
    result = calendar.run("2026-11-22")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    place = 'pyproject.toml, [[]tool.fcall.models."python:agent:answer"]: `volatile`'
    result.stderr.fnmatch_lines([f"*{place} must be a list of regular expressions"])


def test_a_pattern_that_takes_for_ever_is_an_error_of_the_case(
    calendar: Calendar, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Any limit is reached; the right one is held by a test of Volatile itself.
    monkeypatch.setattr("pytest_fcall.backends.recordings.volatile.VOLATILE_SECONDS", 0.05)
    calendar.shop.file("pytest.ini", "[pytest]\nfc_volatile = (x+x+)+y\n")
    result = calendar.run("x" * 5_000)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fc_volatile: '(x+x+)+y' takes too long on this request*"])


def test_a_pattern_of_a_case_file_counts_for_what_its_apps_ask(calendar: Calendar) -> None:
    calendar.shop.cases(f"volatile: '{DAY}'{CASES}")
    for day in ("2026-11-22", "2026-11-23"):
        calendar.run(day).assert_outcomes(passed=1)
    assert len(calendar.server.asked) == 1

"""Plain `pytest` runs an app that the configuration names, and its models answer from recordings only."""

from __future__ import annotations

import pytest

from tests.by_night import by_night
from tests.integration.conftest import Shop
from tests.integration.exam import called, weather_in
from tests.integration.test_inside_apps import Agent, agent
from tests.integration.test_model_http import Apps, apps

__all__ = ["agent", "apps"]

INCONCLUSIVE = 10
NAMED = "[pytest]\nfc_model = python:agent:{app}\n"


@pytest.fixture
def recorded(agent: Agent) -> Agent:
    """Two cases of an app that the configuration names, with what it asked of its model."""
    agent.shop.file("pytest.ini", NAMED.format(app="answer"))
    agent.shop.run("--fc-live").assert_outcomes(passed=2)
    agent.server.asked.clear()
    return agent


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_the_app_runs_on_what_its_model_said(recorded: Agent, workers: str) -> None:
    result = recorded.shop.run(workers)
    assert result.ret == 0
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["fcall: python:agent:answer (configuration)*", "*called; its models answer from rec*"])
    assert recorded.server.asked == []


def test_changed_code_is_judged(recorded: Agent) -> None:
    recorded.change("return calls", "return calls * 2")
    recorded.shop.run().assert_outcomes(failed=2)


@pytest.mark.parametrize(
    ("app", "ci"), [("careless", "true"), by_night("careless", ""), *(by_night("answer", ci) for ci in ("", "true"))]
)
def test_a_changed_prompt_of_the_app_is_said_once_and_nothing_is_sent(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, app: str, ci: str
) -> None:
    agent.shop.file("pytest.ini", NAMED.format(app=app))
    agent.shop.run("--fc-live").assert_outcomes(passed=2)
    agent.server.asked.clear()
    agent.change("You know the weather.", "You are a poet.")
    monkeypatch.setenv("CI", ci)
    result = agent.shop.run()
    assert result.ret == INCONCLUSIVE
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(
        [
            f"2 cases not judged: no recorded reply of python:agent:{app} fits",
            "  request 1 to exam-1 is not recorded",
            "  the prompt changed (system message):",
            "    - You know the weather.",
            "    + You are a poet.",
            "to ask for what is missing: pytest --fc-live",
        ],
        consecutive=True,
    )
    assert agent.server.asked == []
    assert agent.shop.run("--fc-live").ret == 0
    assert agent.shop.run().ret == 0


def test_an_app_that_asks_no_model_needs_no_recording(weather: Shop) -> None:
    weather.file("pytest.ini", "[pytest]\nfc_model = python:echo:answer\n")
    result = weather.run()
    assert result.ret == 1
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["fcall: *, 2 asked"])


def test_nothing_is_kept_of_a_run_on_recordings(weather: Shop) -> None:
    weather.file("pytest.ini", "[pytest]\nfc_model = python:echo:answer\n")
    weather.run().assert_outcomes(passed=1, failed=1)
    result = weather.run("--fc-replay")
    result.assert_outcomes(errors=2)
    assert result.ret == INCONCLUSIVE


def test_an_app_whose_requests_nobody_can_hold_back_is_not_run(recorded: Agent) -> None:
    recorded.shop.file("pytest.ini", f"{NAMED.format(app='answer')}fc_proxy = off\n")
    result = recorded.shop.run()
    assert result.ret == INCONCLUSIVE
    result.assert_outcomes(skipped=2)
    assert recorded.server.asked == []


def test_turns_are_held_on_recordings(agent: Agent) -> None:
    agent.shop.file("pytest.ini", NAMED.format(app="answer_async"))
    agent.shop.cases(
        f"""
        cases:
          - id: twice
            turns:
              - {{user: '{called("Oslo")}', expect: [{{get_weather: {{city: Oslo}}}}]}}
              - {{user: Thanks!, expect: no_call}}
        """
    )
    agent.shop.run("--fc-live").assert_outcomes(passed=1)
    agent.server.asked.clear()
    agent.shop.run().assert_outcomes(passed=1)
    assert agent.server.asked == []


@pytest.fixture
def served(apps: Apps, monkeypatch: pytest.MonkeyPatch) -> Apps:
    """Two cases of an app that the run starts, with what it asked of its model."""
    monkeypatch.delenv("CI", raising=False)
    apps.shop.file("pyproject.toml", (apps.path / "pyproject.toml").read_text("utf-8") + 'fc_model = ["http:shop"]\n')
    apps.shop.cases(weather_in(["Paris", "Rome"]))
    apps.shop.run("--fc-live").assert_outcomes(passed=2)
    apps.server.asked.clear()
    monkeypatch.delenv("OPENAI_API_KEY")
    return apps


def test_an_app_that_the_run_starts_runs_on_what_its_model_said(served: Apps) -> None:
    result = served.shop.run()
    assert result.ret == 0
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["fcall: http:shop (configuration)*", "*called; its models answer from rec*"])
    assert served.server.asked == []


def test_a_changed_prompt_of_an_app_that_the_run_starts_is_named(served: Apps) -> None:
    path = served.path / "app.py"
    path.write_text(path.read_text("utf-8").replace('"content": "short"', '"content": "long"'), "utf-8")
    result = served.shop.run()
    assert result.ret == INCONCLUSIVE
    result.stdout.fnmatch_lines(
        ["2 cases not judged: no rec*", "  request 1 to exam-1 is not recorded", "*", "    - short", "    + long"]
    )
    assert served.server.asked == []


def test_an_app_that_somebody_else_started_is_not_asked(served: Apps) -> None:
    served.shop.file(
        "pyproject.toml",
        f'[tool.fcall.models.shop]\nmodel = "http:{served.server.url}"\n'
        '[tool.pytest.ini_options]\nfc_model = ["http:shop"]\n',
    )
    result = served.shop.run()
    assert result.ret == INCONCLUSIVE
    result.assert_outcomes(skipped=2)
    assert served.server.asked == []

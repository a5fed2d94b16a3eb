from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.command import fcall
from tests.integration.conftest import WEATHER, Shop

CALL = '[{"name": "get_weather", "arguments": {"city": "Oslo"}}]'
GAPS = f"""
cases:
  - id: oslo   # the first one
    prompt: '{CALL}'

  # a comment of its own
  - id: chat
    prompt: Hello!
  - id: known
    prompt: '{CALL}'
    expect: [{{get_weather: {{city: Oslo}}}}]
"""


def fill(shop: Shop, text: str = GAPS, model: str = "python:echo:answer") -> tuple[str, str, int]:
    """What the file says afterwards, and what the command did."""
    name = shop.cases(text)
    done = fcall(shop.pytester.path, "fill", name, f"--fc-model={model}")
    assert "Traceback" not in done.stdout + done.stderr
    return (shop.pytester.path / name).read_text(encoding="utf-8"), done.stdout + done.stderr, done.returncode


def test_cases_get_what_the_model_does_and_the_rest_stays(shop: Shop) -> None:
    text, said, status = fill(shop)
    assert (said, status) == ("weather.fc.yaml: 2 cases filled, to be reviewed\n", 0)
    assert text == WEATHER + GAPS.replace(
        f"'{CALL}'\n\n", f"""'{CALL}'\n    expect:  # review\n      - get_weather: {{city: "Oslo"}}\n\n"""
    ).replace("Hello!\n", "Hello!\n    expect: no_call  # review\n")
    shop.ask().assert_outcomes(passed=3)


def test_a_second_time_there_is_nothing_to_do(shop: Shop) -> None:
    fill(shop)
    done = fcall(shop.pytester.path, "fill", "cases/weather.fc.yaml", "--fc-model=python:echo:answer")
    assert done.returncode == 0
    assert done.stdout.startswith("every case of this file has an expectation already")


@pytest.mark.parametrize("text", ["", "cases: []", "tools: []", "suite: bfcl"])
def test_a_file_without_cases_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "none.fc.yaml").write_text(text)
    done = fcall(tmp_path, "fill", "none.fc.yaml")
    assert done.returncode == 2
    assert "error: no cases in none.fc.yaml: write one below `cases:`" in done.stderr


def test_a_call_that_its_own_tool_forbids_is_not_written(shop: Shop) -> None:
    wrong = CALL.replace('"Oslo"', "3")
    text, said, status = fill(shop, f"cases:\n  - id: wrong\n    prompt: '{wrong}'\n  - id: chat\n    prompt: Hello!\n")
    assert status == 1
    assert "1 case filled" in said
    assert "wrong: the model's call does not fit its tool" in said
    assert text.count("# review") == 1


AGENT = """
import json


def call(name, **arguments):
    return [{"name": name, "arguments": arguments}]


def answer(request):
    *_, last = request.messages
    if last["role"] == "tool":
        return call("get_weather", city="Oslo", days=2) if "7" in last["content"] else "There you are."
    return "Welcome." if "Thanks" in last["content"] else call("get_weather", city=last["content"])
"""
TURNS = """
cases:
  - id: trip
    {stubs}
    turns:
      - user: Oslo
      - user: Thanks!
  - id: rows
    matrix: [{{id: a}}]
    prompt: '{{id}}'
"""


def test_turns_are_filled_from_a_conversation_in_which_stubs_answer(shop: Shop) -> None:
    shop.file("agent.py", AGENT)
    stubs = "stubs: {get_weather: fine}"
    text, said, status = fill(shop, TURNS.format(stubs=stubs), "python:agent:answer")
    assert "weather.fc.yaml: 2 turns filled, to be reviewed" in said
    assert "not filled: rows: all rows of its matrix share one `expect`" in said
    assert status == 1
    assert 'user: Oslo\n        expect:  # review\n          - get_weather: {city: "Oslo"}\n' in text
    assert "user: Thanks!\n        expect: no_call  # review\n" in text
    shop.run("--fc-model=python:agent:answer", "-k", "trip").assert_outcomes(passed=1)


def test_what_comes_after_another_becomes_a_group_of_its_own(shop: Shop) -> None:
    shop.file("agent.py", AGENT)
    case = "cases:\n  - id: twice\n    stubs: {get_weather: 7}\n    max_steps: 3\n    prompt: Oslo\n"
    _, said, _ = fill(shop, case, "python:agent:answer")
    assert "twice: the conversation did not end within the step limit" in said
    text, _, status = fill(shop, case.replace("7", "fine"), "python:agent:answer")
    assert status == 0
    assert text.endswith('expect:  # review\n      - get_weather: {city: "Oslo"}\n')


def test_turns_after_a_call_of_which_nothing_is_known_are_left(shop: Shop) -> None:
    shop.file("agent.py", AGENT)
    text, said, status = fill(shop, TURNS.format(stubs="tags: [a]"), "python:agent:answer")
    assert status == 1
    assert "not filled: trip, turn 1: the result of get_weather is not defined" in said
    assert "not filled: trip, turn 2: the turn before it was not filled: trip, turn 1" in said
    assert "# review" not in text


def test_a_model_that_cannot_be_asked_changes_nothing(shop: Shop) -> None:
    text, said, status = fill(shop, model="python:echo:down")
    assert status == 1
    assert said.count("the shop is closed") == 1
    assert "nothing filled\n" in said
    assert text == WEATHER + GAPS


def test_without_a_model_it_is_said_what_to_do(shop: Shop) -> None:
    name = shop.cases(GAPS)
    done = fcall(shop.pytester.path, "fill", name)
    assert done.returncode == 1
    assert "--fc-model" in done.stderr
    assert (shop.pytester.path / name).read_text(encoding="utf-8") == WEATHER + GAPS


def test_no_run_is_kept(shop: Shop) -> None:
    fill(shop)
    assert not (shop.pytester.path / ".fcall/runs").exists()


def test_a_file_that_is_no_yaml_is_told(shop: Shop) -> None:
    name = shop.file("cases/bad.fc.yaml", "cases: [")
    done = fcall(shop.pytester.path, "fill", name)
    assert done.returncode == 2
    assert "cases/bad.fc.yaml:2:1" in done.stderr

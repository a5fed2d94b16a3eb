from __future__ import annotations

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
    assert done.stdout.startswith("every case of this file expects something already")


def test_a_call_that_its_own_tool_forbids_is_not_written(shop: Shop) -> None:
    wrong = CALL.replace('"Oslo"', "3")
    text, said, status = fill(shop, f"cases:\n  - id: wrong\n    prompt: '{wrong}'\n  - id: chat\n    prompt: Hello!\n")
    assert status == 1
    assert "1 case filled" in said
    assert "wrong: the model's call is none to expect" in said
    assert text.count("# review") == 1


def test_a_model_that_cannot_be_asked_changes_nothing(shop: Shop) -> None:
    text, said, status = fill(shop, model="python:echo:down")
    assert status == 1
    assert "the shop is closed" in said
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

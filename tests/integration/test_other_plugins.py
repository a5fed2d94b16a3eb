"""Beside the plugins that people have, and without those we would like to have."""

from __future__ import annotations

import pytest

from pytest_fcall.session.result.exit_status import INCONCLUSIVE
from tests.integration.conftest import ASYNCIO, Shop
from tests.suite_tools import TOOLS

FLAKY = """
import json

asked = []

def answer(request):
    asked.append(request)
    return "hello" if len(asked) == 1 else json.loads(request.messages[-1]["content"])
"""

DOWN = """
def down():
    raise ConnectionError("down")
"""

PARIS = """
cases:
  - id: paris
    prompt: '[{"name": "get_weather", "arguments": {"city": "Paris"}}]'
    expect: [{get_weather: {city: Paris}}]
"""

FORBIDDEN = '[{"name": "get_weather", "arguments": {"city": "Oslo"}}]'

NEVER_OSLO = PARIS.replace(
    "[{get_weather: {city: Paris}}]",
    """
      calls: [{get_weather: {city: Paris}}]
      never: [{get_weather: {city: Oslo}}]""",
)

RERUN = ("-p", "rerunfailures", "--reruns=1")


@pytest.mark.parametrize(
    "arguments",
    [
        ["-p", "no:xdist"],
        ["-p", "syrupy"],
        ["-p", "no:xdist", "-p", "syrupy"],
        ["-p", "no:terminal"],
        ["-p", "no:junitxml"],
        ["-p", "timeout", "--timeout=60"],
        [*ASYNCIO, "--asyncio-mode=auto"],
        [*ASYNCIO, *(f"-p{name}" for name in TOOLS)],
    ],
)
def test_cases_run_with_and_without(weather: Shop, arguments: list[str]) -> None:
    result = weather.ask(*arguments)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    if "no:terminal" not in arguments:
        result.assert_outcomes(passed=1, failed=1)


def test_pytest_randomly_may_shuffle_cases(weather: Shop) -> None:
    result = weather.pytester.runpytest("--fc-model=python:echo:answer", "-p", "randomly", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)


def test_pytest_rerunfailures_asks_again_and_the_last_answer_counts(shop: Shop) -> None:
    shop.pytester.makepyfile(flaky=FLAKY)
    shop.cases(PARIS)
    result = shop.run("--fc-model=python:flaky:answer", *RERUN)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["not counted: 1 answer of cases that were run again*", "*1 rerun*"])


@pytest.mark.parametrize("arguments", [(), ("-p", "xdist", "-n1")])
def test_a_case_that_is_answered_when_it_is_run_again_lacks_no_reply(shop: Shop, arguments: tuple[str, ...]) -> None:
    shop.pytester.makepyfile(flaky=FLAKY.replace('"hello"', "down()") + DOWN)
    shop.cases(PARIS)
    result = shop.run("--fc-model=python:flaky:answer", *RERUN, "--fc-gate=accuracy>=0.5", *arguments)
    result.stdout.fnmatch_lines(["*1 rerun*"])
    result.stdout.no_fnmatch_line("*missing*")
    assert result.ret == pytest.ExitCode.OK


def test_a_case_that_is_never_answered_lacks_its_reply(shop: Shop) -> None:
    shop.pytester.makepyfile(flaky=FLAKY.replace('"hello" if len(asked) == 1', "down() if asked") + DOWN)
    shop.cases(PARIS)
    result = shop.run("--fc-model=python:flaky:answer", *RERUN, "--fc-gate=accuracy>=0.5")
    result.stdout.fnmatch_lines(["1 case without a reply*", "*1 error, 1 rerun*"])
    assert result.ret == INCONCLUSIVE


@pytest.mark.parametrize("arguments", [(), ("-q", "-q"), ("-p", "xdist", "-n1"), ("--fc-gate=accuracy>=0",)])
def test_a_forbidden_call_is_not_excused_by_a_right_answer_later(shop: Shop, arguments: tuple[str, ...]) -> None:
    shop.pytester.makepyfile(flaky=FLAKY.replace('"hello"', FORBIDDEN))
    shop.cases(NEVER_OSLO)
    result = shop.run("--fc-model=python:flaky:answer", *RERUN, *arguments)
    result.stdout.fnmatch_lines(["a forbidden call was made, which running again does not excuse: paris"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_an_attempt_with_a_forbidden_call_is_not_accepted(shop: Shop) -> None:
    shop.pytester.makepyfile(flaky=FLAKY.replace('"hello"', FORBIDDEN))
    shop.cases(NEVER_OSLO)
    result = shop.run("--fc-model=python:flaky:answer", *RERUN, "--fc-accept=all")
    result.stdout.fnmatch_lines(["not accepted, since a forbidden call is never excused: paris"])


def test_pytest_cov_measures_the_app(weather: Shop) -> None:
    result = weather.pytester.runpytest_subprocess("--fc-model=python:echo:answer", "-p", "pytest_cov", "--cov=echo")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["echo.py*%"])


def test_an_unused_plugin_imports_nothing_that_costs_time(shop: Shop) -> None:
    shop.file("test_empty.py", "def test_nothing(): pass")
    shop.file(
        "run.py",
        """
        import sys, pytest
        pytest.main(["-q", "-p", "no:syrupy", "-p", "no:xdist", "test_empty.py"])
        heavy = ["yaml", "openai", "deepdiff", "pydantic", "jsonschema_rs", "pytest_fcall.core", "pytest_fcall.cases"]
        print("imported:", [name for name in heavy if name in sys.modules])
        """,
    )
    result = shop.pytester.runpython(shop.pytester.path / "run.py")
    result.stdout.fnmatch_lines(["1 passed*", "imported: [[][]]"])

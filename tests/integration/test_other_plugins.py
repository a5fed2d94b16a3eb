"""Beside the plugins that people have, and without those we would like to have."""

from __future__ import annotations

import pytest

from tests.integration.conftest import ASYNCIO, Shop
from tests.suite_tools import TOOLS

FLAKY = """
import json

asked = []

def answer(request):
    asked.append(request)
    return "hello" if len(asked) == 1 else json.loads(request.messages[-1]["content"])
"""


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
    shop.cases(
        """
        cases:
          - id: paris
            prompt: '[{"name": "get_weather", "arguments": {"city": "Paris"}}]'
            expect: [{get_weather: {city: Paris}}]
        """
    )
    result = shop.run("--fc-model=python:flaky:answer", "-p", "rerunfailures", "--reruns=1")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*1 rerun*"])


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

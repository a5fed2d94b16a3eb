"""`-rP` and `-vv` show what passed cases asked and answered."""

from __future__ import annotations

import pytest

from tests.by_night import by_night
from tests.integration.conftest import Shop

BLOCK = [
    "asked:",
    '  user: [[]{"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}[]]',
    "answered:",
    '  get_weather(city: "Paris", unit: "celsius")',
]


@pytest.mark.parametrize(
    ("option", "title", "workers"),
    [
        ("-rP", "= PASSES =", "-n0"),
        ("-rA", "= PASSES =", "-n0"),
        ("-vv", "= calls of passed", "-n0"),
        ("-vv", "= calls of passed", "-n1"),
        by_night("-rP", "= PASSES =", "-n2"),
        by_night("-rA", "= PASSES =", "-n2"),
    ],
)
def test_the_calls_of_passed_cases_are_shown(weather: Shop, option: str, title: str, workers: str) -> None:
    result = weather.ask(option, workers, "-k", "celsius")

    result.stdout.fnmatch_lines([f"*{title}*", "___* *celsius ___*", *BLOCK], consecutive=False)
    assert result.stdout.str().count("answered:") == 1


def test_both_together_show_them_once(weather: Shop) -> None:
    assert weather.ask("-rP", "-vv", "-k", "celsius").stdout.str().count("answered:") == 1


@pytest.mark.parametrize("arguments", [[], ["-v"], ["-ra"]])
def test_nobody_else_sees_them(weather: Shop, arguments: list[str]) -> None:
    assert "answered:" not in weather.ask(*arguments).stdout.str()

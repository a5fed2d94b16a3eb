"""Mistakes in case files: each is an error of its own case, named with its place; the neighbours run."""

from __future__ import annotations

import sys

import pytest

from tests.integration.conftest import Shop

MISTAKES = """
cases:
  - id: good
    prompt: '[{"name": "get_weather", "arguments": {"city": "Paris"}}]'
    expect: [{get_weather: {city: Paris}}]
  - id: typo
    prompt: Weather in Oslo?
    expect: [{get_wether: {city: Oslo}}]
"""


def test_a_faulty_case_errors_with_file_line_column_caret_and_suggestion(shop: Shop) -> None:
    shop.cases(MISTAKES)
    result = shop.ask()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "cases/weather.fc.yaml:*:*: *get_wether*",
            "*expect: *get_wether: {city: Oslo}*",
            "*^*",
            "*get_weather*",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_collect_only_lists_the_faults(shop: Shop) -> None:
    shop.cases(MISTAKES)
    result = shop.ask("--collect-only")
    result.stdout.fnmatch_lines(["*faults in case files*", "cases/weather.fc.yaml:*:*: *get_wether*"])


def test_a_faulty_case_errors_even_where_no_model_is_named(shop: Shop) -> None:
    shop.cases(MISTAKES)
    shop.run("-k", "typo").stdout.fnmatch_lines(["cases/weather.fc.yaml:*:*: *get_wether*"])


def test_only_an_unreadable_file_is_a_collection_error(shop: Shop) -> None:
    shop.file("cases/broken.fc.yaml", "cases:\n  - id: one\n    prompt: [unclosed\n")
    result = shop.ask()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["cases/broken.fc.yaml:*:*: *"])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.nightly  # a Python from its very start; test_terminal_marks has the marks
def test_a_terminal_without_unicode_gets_the_same_lines_in_ascii(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("PYTHONUTF8", "0")
    shop.cases(
        """
        cases:
          - id: wrong
            prompt: '[{"name": "get_weather", "arguments": {"city": "Köln"}}]'
            expect: [{get_weather: {city: München}}]
          - {id: typo, prompt: hello, expect: [{get_wether: {city: München}}]}
        """
    )
    result = shop.pytester.run(sys.executable, "-m", "pytest", "--fc-model=python:echo:answer")
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(["*did you mean `get_weather`?", "  ! get_weather", "  !   city *M?xfcnchen*K?xf6ln*"])

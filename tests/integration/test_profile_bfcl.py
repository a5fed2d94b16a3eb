"""A case file judged by the rules of the official BFCL checker."""

from __future__ import annotations

from tests.integration.conftest import Shop

CASE = """
defaults: {{profile: bfcl}}
cases:
  - id: oslo
    prompt: '{prompt}'
    expect: {expect}
"""
CALL = '[{"name": "get_weather", "arguments": {"city": "new york", "days": %s}}]'


def test_a_case_passes_and_fails_by_the_official_rules(shop: Shop) -> None:
    expect = "[{get_weather: {city: New-York, days: 3}}]"
    shop.cases(CASE.format(prompt=CALL % 3, expect=expect), "right.fc.yaml")
    shop.cases(CASE.format(prompt=CALL % '"3"', expect=expect), "wrong.fc.yaml")
    result = shop.ask()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["wrong_type: `days` is of type str, not int: '3' (bfcl: type_error:simple)"])


def test_all_that_there_is_to_say_names_the_official_error(shop: Shop) -> None:
    shop.cases(CASE.format(prompt=CALL % 3, expect="no_call"))
    result = shop.ask("-vv")
    result.stdout.fnmatch_lines(["*official error:", "*irrelevance_error:decoder_success"])


def test_an_answer_in_words_passes_for_an_abstention(shop: Shop) -> None:
    shop.cases(CASE.format(prompt="Hello!", expect="no_call"))
    shop.ask().assert_outcomes(passed=1)


def test_a_case_that_asks_for_more_errors_before_the_model_is_asked(shop: Shop) -> None:
    shop.cases(CASE.format(prompt="Hello!", expect="[{get_weather: {city: {$regex: O.*}}}]"))
    result = shop.ask()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*`$regex` in `city` of `get_weather` is not supported by `profile: bfcl`",
            "*it supports plain values, `$any` and `$optional`*",
        ]
    )

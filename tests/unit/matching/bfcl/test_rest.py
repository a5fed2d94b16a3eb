"""What the official checker says of what a web service answered."""

from __future__ import annotations

import pytest

from pytest_fcall.matching.bfcl.rest import HttpAnswer, check_rest

REST = "executable_checker_rest"

ANSWERS: dict[str, tuple[str, HttpAnswer, str | None]] = {
    "the same keys are right": ('{"a": 1, "b": {"c": 1}}', HttpAnswer(200, '{"b": null, "a": []}'), None),
    "other keys are not": ('{"a": 1}', HttpAnswer(200, '{"a": 1, "b": 1}'), f"{REST}:wrong_key"),
    "a list with the same keys in each item is right": (
        '[{"a": 1}, {"b": 1}]',
        HttpAnswer(200, '[{"a": 2}, {"b": 2}]'),
        None,
    ),
    "with other keys in one it is not": ('[{"a": 1}]', HttpAnswer(200, '[{"b": 1}]'), f"{REST}:wrong_key"),
    "a longer list is not": (
        '[{"a": 1}]',
        HttpAnswer(200, '[{"a": 1}, {"a": 1}]'),
        "value_error:exec_result_rest_count",
    ),
    "empty lists are alike": ("[]", HttpAnswer(200, "[]"), None),
    "a list is no object": ('{"a": 1}', HttpAnswer(200, '[{"a": 1}]'), f"{REST}:wrong_type"),
    "an object is no list": ('[{"a": 1}]', HttpAnswer(200, '{"a": 1}'), f"{REST}:wrong_type"),
    "a figure is never what is expected": ("1", HttpAnswer(200, "1"), f"{REST}:wrong_type"),
    "items without keys cannot be compared": ("[1]", HttpAnswer(200, "[1]"), f"{REST}:response_format_error"),
    "text is no JSON": ('{"a": 1}', HttpAnswer(200, "<html>"), f"{REST}:response_format_error"),
    "another status is wrong, whatever it says": ('{"a": 1}', HttpAnswer(201, '{"a": 1}'), f"{REST}:wrong_status_code"),
    "no answer is an error": ('{"a": 1}', HttpAnswer(error="timed out"), f"{REST}:execution_error"),
    "an expectation that is no JSON breaks it": ("{", HttpAnswer(200, "{}"), f"{REST}:cannot_get_status_code"),
}


@pytest.mark.parametrize(("wanted", "answer", "error"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_judged_as_by_the_official_checker(wanted: str, answer: HttpAnswer, error: str | None) -> None:
    ruling = check_rest(wanted, answer)
    assert (ruling.valid, ruling.error_type) == (error is None, error)


def test_an_answer_nested_too_deeply_is_no_crash() -> None:
    assert check_rest("{}", HttpAnswer(200, "[" * 1_000_000)).error_type == f"{REST}:response_format_error"

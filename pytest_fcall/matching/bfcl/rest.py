"""What a web service answered, by the rules of the official checker for such calls."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from pytest_fcall.matching.bfcl.ruling import VALID, Ruling, objection, short_repr


class HttpAnswer(NamedTuple):
    """What came back over HTTP, or why nothing did."""

    status: int = 0
    text: str = ""
    error: str | None = None


def check_rest(wanted: str, answer: HttpAnswer) -> Ruling:
    """Judge an answer by the JSON text of an earlier one: only the outermost keys, or those of each item, count."""
    if answer.error is not None:
        return _wrong("execution_error", f"the call failed: {answer.error}")
    if answer.status != 200:
        return _wrong("wrong_status_code", f"the status is {answer.status}, not 200")
    try:
        expected = json.loads(wanted)
    except (ValueError, RecursionError):
        return _wrong("cannot_get_status_code", "what is expected is no JSON")
    try:
        return _compared(expected, json.loads(answer.text))
    except Exception as crash:  # no JSON, items that are no objects, keys beyond reason
        return _wrong("response_format_error", f"the answer cannot be compared: {type(crash).__name__}")


def _compared(expected: Any, got: Any) -> Ruling:
    for kind in (dict, list):
        if isinstance(expected, kind) and not isinstance(got, kind):
            return _wrong(
                "wrong_type", f"the answer is {short_repr(got)}, and one like {short_repr(expected)} is expected"
            )
    if isinstance(expected, dict):
        return VALID if set(expected) == set(got) else _wrong("wrong_key", "the answer has other keys")
    if not isinstance(expected, list):
        return _wrong("wrong_type", f"neither an object nor a list is expected, but {short_repr(expected)}")
    if len(expected) != len(got):
        message = f"the answer holds {len(got)} items, not {len(expected)}"
        return objection("value_error:exec_result_rest_count", message)
    for index, (one, other) in enumerate(zip(expected, got, strict=True)):
        if set(one.keys()) != set(other.keys()):
            return _wrong("wrong_key", f"item {index} has other keys")
    return VALID


def _wrong(name: str, message: str) -> Ruling:
    return objection(f"executable_checker_rest:{name}", message)

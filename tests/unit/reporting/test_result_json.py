from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Usage
from pytest_fcall.reporting.result_json import result_from_json, result_to_json, results_from_json, results_to_json
from pytest_fcall.reporting.results import JudgeUsage, Result, Results, Status

RESULT = Result("cases/a.fc.yaml::oslo", "oslo", "local:smollm2", "passed")
RESULTS = st.builds(
    Result,
    nodeid=st.text(),
    case=st.text(),
    model=st.text(),
    status=st.sampled_from(get_args(Status)),
    tags=st.lists(st.text()).map(tuple),
    reasons=st.lists(st.tuples(st.text(), st.text())).map(tuple),
    seconds=st.none() | st.floats(0, 100),
    replayed=st.booleans(),
    asked=st.integers(0, 9),
    usage=st.none() | st.builds(Usage, batched=st.none() | st.builds(Usage, output_tokens=st.integers(0, 10**9))),
    cost=st.none() | st.floats(0, 100),
    judging=st.none()
    | st.builds(
        JudgeUsage,
        questions=st.integers(0, 9),
        replayed=st.integers(0, 9),
        usage=st.none() | st.builds(Usage),
        cost=st.none() | st.floats(0, 100),
    ),
)


@given(st.builds(Results, st.lists(RESULTS, max_size=3).map(tuple)))
def test_results_come_back_as_they_went(results: Results) -> None:
    data = results_to_json(results)
    assert results_from_json(data) == results
    assert results_from_json(json.loads(json.dumps(data, default=list))) == results


def test_fields_of_a_later_version_are_left_out() -> None:
    data = {**result_to_json(RESULT), "outcome": "fixed", "usage": {"input_tokens": 3, "thinking": 5}}
    assert result_from_json(data).usage == Usage(input_tokens=3)


def test_fields_of_an_earlier_version_may_be_missing() -> None:
    data = {"nodeid": "a::b", "case": "b", "model": "m", "status": "failed"}
    assert result_from_json(data) == Result("a::b", "b", "m", "failed", asked=1)
    assert results_from_json({}) == Results()


@pytest.mark.parametrize(
    ("fields", "asked", "replays"),
    [
        ({}, 1, 0),
        ({"replayed": True}, 0, 1),
        ({"samples": [2, 5]}, 5, 0),
        ({"samples": [2, 5], "replayed": True}, 0, 5),
        ({"status": "error"}, 0, 0),
        ({"status": "skipped", "replayed": False}, 0, 0),
        ({"samples": [2, 5], "asked": 2}, 2, 3),
        ({"asked": 0, "replayed": True}, 0, 1),
    ],
)
def test_the_answers_that_were_asked_for_follow_from_an_earlier_version(
    fields: dict[str, Any], asked: int, replays: int
) -> None:
    result = result_from_json({"nodeid": "a::b", "case": "b", "model": "m", "status": "failed", **fields})
    assert (result.asked, result.replays) == (asked, replays)


def test_an_earlier_version_only_knew_the_oldest_reply() -> None:
    found = results_from_json({"oldest_reply": 86_400})
    assert (found.oldest_reply, found.newest_reply, found.undated_replies) == (86_400, None, False)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"status": "great"}, "status: unknown status 'great'; available: passed, failed"),
        ({"status": None}, "status: expected str, got NoneType"),
        ({"nodeid": 5}, "nodeid: expected str, got int"),
        ({"line": True}, "line: expected int, got bool"),
        ({"seconds": "1"}, "seconds: expected float, got str"),
        ({"replayed": 1}, "replayed: expected bool, got int"),
        ({"asked": "1"}, "asked: expected int, got str"),
        ({"asked": 10**400}, "asked: the number is too large"),
        ({"before": [1, 10**400]}, "before: the number is too large"),
        ({"before": [1, 10**13]}, r"before: expected \[right, asked\]"),
        ({"samples": [0, 0]}, r"samples: expected \[right, asked\]"),
        ({"tags": "ab"}, "tags: expected list, got str"),
        ({"reasons": [["only one"]]}, "reasons: expected pairs"),
        ({"reasons": ["ab"]}, "reasons: expected list, got str"),
        ({"usage": 5}, "usage: expected dict, got int"),
        ({"judging": 5}, "judging: expected dict, got int"),
        ({"judging": {"model": "m"}}, "questions: expected int, got NoneType"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        result_from_json({**result_to_json(RESULT), **change})


@pytest.mark.parametrize(
    ("status", "answered", "right"),
    [
        ("passed", True, True),
        ("xpassed", True, True),
        ("failed", True, False),
        ("xfailed", True, False),
        ("error", False, False),
        ("skipped", False, False),
    ],
)
def test_errors_and_skips_are_no_answers(status: Any, answered: bool, right: bool) -> None:
    result = Result("a::b", "b", "m", status)
    assert (result.answered, result.right) == (answered, right)

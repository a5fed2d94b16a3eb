from __future__ import annotations

from dataclasses import replace

from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.summary import sample_lines

ONCE = Result("a::once", "once", "m", "passed", file="a.fc.yaml", line=3)
STEADY = replace(ONCE, nodeid="a::steady", case="steady", samples=(4, 4))
FLAKY = replace(ONCE, nodeid="a::flaky", case="flaky", status="failed", line=7, samples=(18, 20))


def test_where_each_case_was_asked_once_nothing_is_said() -> None:
    assert sample_lines([ONCE], 80) == []


def test_the_chances_are_means_over_the_cases_for_as_many_answers_as_all_have() -> None:
    assert sample_lines([ONCE, STEADY, replace(STEADY, samples=(0, 6))], 80) == [
        "10 answers to 2 cases: pass@1 50.0 %, pass@4 50.0 %, pass^4 50.0 %"
    ]


def test_a_flaky_case_is_named_with_its_rate_and_interval() -> None:
    assert sample_lines([STEADY, FLAKY], 80)[1:] == ["1 flaky:", "  a.fc.yaml:7 flaky 18/20 90.0 % [70, 97]"]


def test_of_many_flaky_cases_the_worst_come_first() -> None:
    lines = sample_lines([replace(FLAKY, case=f"c{right}", samples=(right, 20)) for right in range(19, 0, -1)], 80)
    assert lines[1] == "19 flaky:"
    assert lines[2].startswith("  a.fc.yaml:7 c1 1/20 ")
    assert lines[-1] == "  and 9 more"


def test_of_several_models_a_flaky_case_says_whose_it_is() -> None:
    assert sample_lines([FLAKY, replace(STEADY, model="n")], 80)[2].startswith("  a.fc.yaml:7 flaky (m) 18/20")


def test_what_was_not_asked_in_the_end_is_counted() -> None:
    decided = replace(STEADY, samples=(14, 14), most=100)
    assert sample_lines([decided, replace(decided, status="failed", samples=(0, 1))], 80) == [
        "15 answers to 2 cases: pass@1 50.0 %",
        "auto: decided after 15 of at most 200 answers",
    ]


def test_a_case_in_error_has_no_samples_that_count() -> None:
    assert sample_lines([replace(FLAKY, status="error")], 80) == []

from __future__ import annotations

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.summary import sample_lines

ONCE = Result("a::once", "once", "m", "passed", file="a.fc.yaml", line=3)
STEADY = ONCE._replace(nodeid="a::steady", case="steady", samples=(4, 4))
FLAKY = ONCE._replace(nodeid="a::flaky", case="flaky", status="failed", line=7, samples=(18, 20))


def test_where_each_case_was_asked_once_nothing_is_said() -> None:
    assert sample_lines([ONCE], 80) == []


def test_the_chances_are_means_over_the_cases_for_as_many_answers_as_all_have() -> None:
    assert sample_lines([ONCE, STEADY, STEADY._replace(samples=(0, 6))], 80) == [
        "10 answers to 2 cases: pass@1 50.0 %, pass@4 50.0 %, pass^4 50.0 %"
    ]


def test_a_flaky_case_is_named_with_its_rate_and_interval() -> None:
    assert sample_lines([STEADY, FLAKY], 80)[1:] == ["1 flaky:", "  a.fc.yaml:7 flaky 18/20 90.0 % [70, 97]"]


def test_of_many_flaky_cases_the_worst_come_first() -> None:
    lines = sample_lines([FLAKY._replace(case=f"c{right}", samples=(right, 20)) for right in range(19, 0, -1)], 80)
    assert lines[1] == "19 flaky:"
    assert lines[2].startswith("  a.fc.yaml:7 c1 1/20 ")
    assert lines[-1] == "  and 9 more"


def test_of_several_models_a_flaky_case_says_whose_it_is() -> None:
    assert sample_lines([FLAKY, STEADY._replace(model="n")], 80)[2].startswith("  a.fc.yaml:7 flaky (m) 18/20")


def test_a_case_that_was_asked_again_says_nothing_of_chances() -> None:
    again = FLAKY._replace(outcome=Outcome.FLAKY, samples=(1, 2), first=(0, 1), before=(3, 4))
    assert sample_lines([ONCE, again], 80) == ["1 flaky:", "  a.fc.yaml:7 flaky 4/6 66.7 % [30, 90]"]


def test_a_flaky_case_has_its_rate_with_what_was_measured_before() -> None:
    once = ONCE._replace(status="xfailed", outcome=Outcome.FLAKY, before=(8, 9))
    assert sample_lines([once], 80) == ["1 flaky:", "  a.fc.yaml:3 once 8/10 80.0 % [49, 94]"]


def test_a_case_in_error_has_no_samples_that_count() -> None:
    assert sample_lines([FLAKY._replace(status="error")], 80) == []

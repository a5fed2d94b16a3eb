from __future__ import annotations

import pytest

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.reporting.summary import one_line_summary, outcome_lines

REGRESSED = Result("a::one", "one", "m", "failed", file="a.fc.yaml", line=7, outcome=Outcome.REGRESSED)
RIGHT = Result("a::two", "two", "m", "passed", file="a.fc.yaml", line=9, outcome=Outcome.OK)


def test_without_a_baseline_there_is_nothing_to_tell() -> None:
    assert outcome_lines([RIGHT._replace(outcome=None)], 80) == []
    assert outcome_lines([RIGHT], 80) == []


def test_a_regression_is_told_with_its_place_and_what_changed() -> None:
    since = ("calls[0].args.unit: 'celsius' → 'fahrenheit'", "the prompt changed")

    assert outcome_lines([REGRESSED._replace(since=since), RIGHT], 100) == [
        "1 regressed:",
        "  a.fc.yaml:7 one: calls[0].args.unit: 'celsius' → 'fahrenheit'; the prompt changed",
    ]


def test_of_several_models_the_regressions_say_whose_they_are() -> None:
    assert outcome_lines([REGRESSED, RIGHT._replace(model="n")], 80)[1] == "  a.fc.yaml:7 one (m)"


def test_many_regressions_are_counted_and_the_first_are_shown() -> None:
    lines = outcome_lines([REGRESSED._replace(case=f"c{n}") for n in range(12)], 80)

    assert lines[0] == "12 regressed:"
    assert lines[-1] == "  and 2 more"
    assert len(lines) == 12


def test_right_answers_that_are_not_in_the_baseline_wait_to_be_accepted() -> None:
    results = [
        RIGHT._replace(outcome=outcome) for outcome in (Outcome.NEW, Outcome.FIXED, Outcome.NEW, Outcome.DRIFTED)
    ]
    wrong = REGRESSED._replace(outcome=Outcome.NEW)

    *_, last = outcome_lines([*results, wrong], 80)
    assert last == "not in the baseline: 1 fixed, 2 new, 1 drifted; `fcall accept` accepts what is right"
    assert last not in outcome_lines([*results, wrong], 80, accepted=True)


@pytest.mark.parametrize("accepted", [False, True])
def test_what_is_fixed_is_named(accepted: bool) -> None:
    fixed = RIGHT._replace(outcome=Outcome.FIXED, since=("a failure, wrong_value at calls[0].args.city",))

    assert outcome_lines([fixed], 80, accepted=accepted)[:2] == [
        "1 fixed:",
        "  a.fc.yaml:9 two: a failure, wrong_value at calls[0].args.city",
    ]


def test_on_a_narrow_terminal_changes_go_on_lines_of_their_own_and_none_is_cut() -> None:
    since = ("6/6 right before, 0/4 now (p = 0.00023)", "calls[0].args.city: 'Bath' → 'Paris, where it rains today'")

    assert outcome_lines([REGRESSED._replace(since=since)], 60) == [
        "1 regressed:",
        "  a.fc.yaml:7 one: 6/6 right before, 0/4 now (p = 0.00023)",
        "      calls[0].args.city: 'Bath' → 'Paris, where it rains",
        "        today'",
    ]


def test_a_cause_is_told_once_with_all_its_words() -> None:
    cause = f"the system prompt changed: {'Ask for the city. ' * 80}[-a-]{{+b+}}"
    results = [REGRESSED._replace(causes=(cause,)), REGRESSED._replace(case="three", causes=(cause,))]

    lines = outcome_lines(results, 60)

    told = lines[lines.index("changed since the baseline:") + 1 :]
    assert " ".join(map(str.strip, told)) == f"{cause} (2 cases)"
    assert all(len(line) <= 60 for line in told)
    assert all(line.startswith("      ") for line in told[1:])


def test_what_files_and_models_say_is_made_fit_for_a_terminal() -> None:
    hostile = REGRESSED._replace(case="\x1b[31m", since=("\u202e",))

    assert outcome_lines([hostile], 80)[1] == "  a.fc.yaml:7 \\x1b[31m: \\u202e"


def test_the_last_line_counts_regressions() -> None:
    assert "1 wrong, 1 regressed" in one_line_summary(Results((REGRESSED, RIGHT)))


def test_apps_that_come_to_the_same_by_other_requests_are_told_until_they_are_accepted() -> None:
    since = ("request 2 to gpt-5.2 is new",)
    otherwise = [RIGHT._replace(case=f"c{n}", since=since) for n in range(5)]

    assert outcome_lines([*otherwise, RIGHT], 100) == [
        "5 ok, but the app sent other requests to its models:",
        "  a.fc.yaml:9 c0: request 2 to gpt-5.2 is new",
        "  a.fc.yaml:9 c1: request 2 to gpt-5.2 is new",
        "  a.fc.yaml:9 c2: request 2 to gpt-5.2 is new",
        "  and 2 more",
        "not in the baseline: 5 with other requests of the app; `fcall accept` accepts what is right",
    ]
    assert outcome_lines(otherwise, 100, accepted=True) == []

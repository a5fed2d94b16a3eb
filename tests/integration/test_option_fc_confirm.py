"""Asking again what seems to have regressed."""

from __future__ import annotations

import pytest

from tests.integration.mind import RIGHT, WRONG, Mind


@pytest.fixture
def accepted(mind: Mind) -> Mind:
    """One case that was right, and is accepted."""
    mind.cases("one", "two")
    mind.run("--fc-accept")
    return mind


def test_a_case_that_is_mostly_right_when_asked_again_has_not_regressed(accepted: Mind) -> None:
    accepted.says_in_turn("one", WRONG, RIGHT, RIGHT, WRONG, RIGHT, RIGHT)

    result = accepted.run("--fc-confirm=5")

    result.assert_outcomes(passed=2)
    assert accepted.asked() == {"one": 6, "two": 1}
    result.stdout.fnmatch_lines(["1 flaky:", "  cases/a.fc.yaml:?? one 4/6 66.7 % *"])
    result.stdout.no_fnmatch_line("*1 regressed*")


def test_a_case_that_stays_wrong_has_regressed_and_says_how_often_it_was_asked(accepted: Mind) -> None:
    accepted.says_in_turn("one", WRONG)

    result = accepted.run("--fc-confirm=5")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*0 of 6 answers are right (asked again)", "1 regressed:"])


def test_where_a_rate_was_accepted_the_rates_are_compared(mind: Mind) -> None:
    mind.cases("one")
    mind.says_in_turn("one", RIGHT)
    mind.run("--fc-samples=10 rate>=0.5", "--fc-accept")
    mind.says_in_turn("one", WRONG, RIGHT, WRONG, RIGHT)
    mind.run("--fc-confirm=3").assert_outcomes(passed=1)
    mind.says_in_turn("one", WRONG)
    mind.run("--fc-confirm=3").assert_outcomes(failed=1)


@pytest.mark.parametrize("first", [RIGHT, WRONG])
def test_what_has_not_regressed_is_asked_once(mind: Mind, first: str) -> None:
    mind.cases("one")
    mind.says({"one": first})
    mind.run("--fc-accept=all")
    mind.says_in_turn("one", first)
    mind.run("--fc-confirm=5")
    assert mind.asked() == {"one": 1}


def test_without_a_baseline_nothing_is_asked_again(mind: Mind) -> None:
    mind.cases("one")
    mind.says_in_turn("one", WRONG)
    mind.run("--fc-confirm=5").assert_outcomes(failed=1)
    assert mind.asked() == {"one": 1}


def test_cases_that_are_sampled_anyway_are_not_asked_again(accepted: Mind) -> None:
    accepted.says_in_turn("one", WRONG)
    accepted.run("--fc-confirm=5", "--fc-samples=2")
    assert accepted.asked() == {"one": 2, "two": 2}


def test_the_configuration_may_say_it_too(accepted: Mind) -> None:
    accepted.shop.file("pytest.ini", "[pytest]\nfc_confirm = 2\n")
    accepted.says_in_turn("one", WRONG)
    accepted.run().assert_outcomes(passed=1, failed=1)
    assert accepted.asked() == {"one": 3, "two": 1}


def test_what_is_no_number_is_told(mind: Mind) -> None:
    mind.cases("one")
    result = mind.run("--fc-confirm=often")
    result.stderr.fnmatch_lines(["*--fc-confirm: 'often' must be a positive integer*"])

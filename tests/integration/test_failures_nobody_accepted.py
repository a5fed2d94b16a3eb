"""Cases that are wrong when others are accepted, and that nobody accepts as failures."""

from __future__ import annotations

import pytest

from tests.integration.mind import RIGHT, WRONG, Mind


@pytest.fixture
def mind_with_a_failure(mind: Mind) -> Mind:
    """One case is right and accepted, and another was wrong meanwhile."""
    mind.cases("right", "wrong")
    mind.says({"wrong": WRONG})
    mind.run("--fc-accept")
    return mind


def test_a_case_that_is_always_wrong_fails_until_somebody_accepts_that(mind_with_a_failure: Mind) -> None:
    for _ in range(2):
        result = mind_with_a_failure.run()
        result.assert_outcomes(passed=1, failed=1)
        assert result.ret == 1

    mind_with_a_failure.run("--fc-accept=all")
    mind_with_a_failure.run().assert_outcomes(passed=1, xfailed=1)


def test_a_case_that_is_right_now_and_wrong_then_does_not_fail(mind_with_a_failure: Mind) -> None:
    mind_with_a_failure.says_in_turn("wrong", WRONG, RIGHT)

    result = mind_with_a_failure.run("-rx")

    result.assert_outcomes(passed=1, xfailed=1)
    result.stdout.fnmatch_lines(["XFAIL *::wrong - flaky: 0/1 right before, 1/2 now*"])


def test_a_case_that_is_right_now_and_wrong_then_is_not_said_to_fail_where_others_are_accepted(
    mind_with_a_failure: Mind,
) -> None:
    mind_with_a_failure.says_in_turn("wrong", WRONG, RIGHT)

    result = mind_with_a_failure.run("--fc-accept")

    result.stdout.fnmatch_lines(["accepted: 0 cases, 1 unchanged"])
    result.stdout.no_fnmatch_line("not accepted, since they fail*")


def test_a_case_that_was_often_right_is_flaky_and_no_known_failure_where_nobody_accepted_it(
    mind_with_a_failure: Mind,
) -> None:
    mind_with_a_failure.says({"wrong": RIGHT})
    for _ in range(2):
        mind_with_a_failure.run()
    mind_with_a_failure.says({"wrong": WRONG})

    result = mind_with_a_failure.run("-rx", "--fc-confirm=0")

    result.assert_outcomes(passed=1, xfailed=1)
    result.stdout.fnmatch_lines(["XFAIL *::wrong - flaky: 2/3 right before, 0/1 now*"])

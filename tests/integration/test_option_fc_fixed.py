from __future__ import annotations

import pytest

from tests.integration.mind import RIGHT, WRONG, Mind, lines_with


@pytest.fixture
def fixed(mind: Mind) -> Mind:
    mind.cases("one")
    mind.says({"one": WRONG})
    mind.run("--fc-accept=all")
    mind.says({"one": RIGHT})
    return mind


def test_what_was_mended_passes_and_asks_to_be_accepted(fixed: Mind) -> None:
    result = fixed.run()

    result.assert_outcomes(passed=1)
    assert lines_with(result, "not in the baseline: 1 fixed")


def test_ci_may_insist_that_it_is_accepted(fixed: Mind) -> None:
    result = fixed.run("--fc-fixed=fail")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "fixed: the answer is right, and what is accepted is not",
            "  baseline of *: a failure, wrong_value at calls[[]0].args.city",
        ]
    )
    fixed.run("--fc-fixed=fail", "--fc-accept").assert_outcomes(passed=1)
    fixed.run("--fc-fixed=fail").assert_outcomes(passed=1)


def test_the_configuration_may_say_it(fixed: Mind) -> None:
    fixed.shop.file("pytest.ini", "[pytest]\nfc_fixed = fail\n")

    fixed.run().assert_outcomes(failed=1)

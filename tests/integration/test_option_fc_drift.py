from __future__ import annotations

import pytest

from tests.integration.mind import OTHERWISE, Mind, lines_with


@pytest.fixture
def drifted(mind: Mind) -> Mind:
    mind.cases("one")
    mind.run("--fc-accept")
    mind.says({"one": OTHERWISE})
    return mind


def test_drift_is_noted(drifted: Mind) -> None:
    result = drifted.run()

    result.assert_outcomes(passed=1)
    assert lines_with(result, "not in the baseline: 1 drifted")


def test_drift_is_ignored(drifted: Mind) -> None:
    result = drifted.run("--fc-drift=ignore")

    result.assert_outcomes(passed=1)
    assert not lines_with(result, "drifted")


def test_drift_fails_and_the_answer_still_counts_as_right(drifted: Mind) -> None:
    result = drifted.run("--fc-drift=fail")

    result.assert_outcomes(failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "drifted: the answer is right, and not the one that was accepted",
            "  cases/a.fc.yaml:* one",
            "  baseline of *: calls[[]0].args.unit: 'celsius' is new",
            "  `fcall accept` accepts it",
            "fcall: python:mind:answer 1/1 right *",
        ]
    )


def test_the_configuration_may_say_it(drifted: Mind) -> None:
    drifted.shop.file("pytest.ini", "[pytest]\nfc_drift = fail\n")

    drifted.run().assert_outcomes(failed=1)
    drifted.run("--fc-drift=note").assert_outcomes(passed=1)


def test_what_is_no_such_word_is_refused(drifted: Mind) -> None:
    drifted.shop.file("pytest.ini", "[pytest]\nfc_drift = maybe\n")

    result = drifted.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "fc_drift: 'maybe' is none of note, fail, ignore" in str(result.stderr)


def test_an_xfail_mark_does_not_excuse_it(drifted: Mind) -> None:
    path = drifted.path / "cases" / "a.fc.yaml"
    path.write_text(path.read_text("utf-8").replace("prompt: one", "prompt: one, xfail: too hard"), "utf-8")

    drifted.run("--fc-drift=fail").assert_outcomes(failed=1)

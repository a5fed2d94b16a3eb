"""`--fc-rpm` and `--fc-tpm`: how much may be asked in a minute. Nothing here waits for a minute to pass."""

from __future__ import annotations

import sys

import pytest

from tests.by_night import by_night
from tests.integration.conftest import QUIET
from tests.integration.exam import Exam, called, towns

if sys.platform != "win32":
    from tests.forked import Run


@pytest.mark.parametrize("limit", [by_night("--fc-rpm=20"), "--fc-tpm=1_000_000"])
def test_what_is_allowed_is_asked_at_once(exam: Exam, limit: str) -> None:
    exam.cities(*towns(20))
    exam.run(limit).assert_outcomes(passed=20)
    assert len(exam.asked()) == 20


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_what_is_more_waits_for_the_next_minute(exam: Exam) -> None:
    exam.cities(*towns(20))
    run = Run(exam.path, [*QUIET, exam.model, "--fc-rpm=5", "-n2"])
    exam.server.wait_for(5)
    run.interrupt()
    assert run.ended() == pytest.ExitCode.INTERRUPTED, run.output
    assert len(exam.asked()) == 5


def test_the_next_run_is_limited_on_its_own(exam: Exam) -> None:
    exam.cities("Paris", "Rome")
    exam.run("--fc-rpm=2").assert_outcomes(passed=2)
    exam.run("--fc-rpm=2", "--fc-record=all").assert_outcomes(passed=2)
    assert sorted(exam.asked()) == sorted(map(called, ["Paris", "Rome"] * 2))


def test_replies_that_are_kept_do_not_count(exam: Exam) -> None:
    exam.cities(*towns(4))
    exam.run().assert_outcomes(passed=4)
    exam.cities(*towns(5))
    exam.run("--fc-rpm=1").assert_outcomes(passed=5)

"""`--fc-concurrency`: how many requests may be on their way at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.by_night import by_night
from tests.integration.exam import Exam, called, most_at_a_time, towns
from tests.servers import echo


@pytest.mark.parametrize(("told", "most"), [by_night(1, 1), (3, 3), (64, 20)])
def test_never_more_are_on_their_way_than_told(exam: Exam, told: int, most: int) -> None:
    exam.cities(*towns(20))
    with exam.answered_from(most):
        exam.run(f"--fc-concurrency={told}").assert_outcomes(passed=20)
    assert most_at_a_time(exam.server.asked) == most


def test_all_workers_together_have_no_more_on_their_way_than_told(exam: Exam) -> None:
    exam.cities(*towns(20))
    exam.server.default = lambda asked: replace(echo(asked), latency=0.01)
    with exam.answered_from(3):
        exam.apart("--fc-concurrency=3", "-n2").assert_outcomes(passed=20)
    assert most_at_a_time(exam.server.asked) == 3
    assert sorted(exam.asked()) == sorted(map(called, towns(20)))


def test_the_limit_is_for_all_models_together(exam: Exam) -> None:
    exam.cities(*towns(6))
    with exam.answered_from(4):
        exam.run(f"--fc-model={exam.named('another')}", "--fc-concurrency=4").assert_outcomes(passed=12)
    assert most_at_a_time(exam.server.asked) == 4


@pytest.mark.usefixtures("asyncio_plugin")
def test_plain_tests_keep_to_it_too(exam: Exam) -> None:
    exam.shop.file(
        "test_plain.py",
        """
        import asyncio, pytest

        @pytest.mark.asyncio
        async def test_many(fc_model):
            await asyncio.gather(*(fc_model.ask(f"hello {n}") for n in range(10)))
        """,
    )
    exam.run("--fc-concurrency=2").assert_outcomes(passed=1)
    assert len(exam.asked()) == 10
    assert most_at_a_time(exam.server.asked) <= 2


def test_the_configuration_can_say_it(exam: Exam) -> None:
    exam.cities(*towns(8))
    exam.shop.pytester.makeini("[pytest]\nfc_concurrency = 1\n")
    exam.run().assert_outcomes(passed=8)
    assert most_at_a_time(exam.server.asked) == 1

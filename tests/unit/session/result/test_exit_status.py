from __future__ import annotations

from fractions import Fraction

import pytest

from pytest_fcall.session.result.exit_status import Fail, RunFailures
from pytest_fcall.tracking.gates import Gate, GateVerdict


def gates(*held: bool | None) -> list[GateVerdict]:
    return [GateVerdict(Gate("cases>=1", "cases", ">=", Fraction(1)), None, each, "") for each in held]


VERDICTS, OTHERWISE, UNANSWERED = RunFailures(verdicts=True), RunFailures(otherwise=True), RunFailures(unanswered=True)
UNDECIDED, WORSE = RunFailures(undecided=True), RunFailures(worse=True)


@pytest.mark.parametrize(
    ("ending", "held", "items", "by_gates", "both"),
    [
        (RunFailures(), [], 0, 0, 0),
        (VERDICTS, [True], 1, 0, 1),
        (OTHERWISE, [True], 1, 1, 1),
        (UNANSWERED, [True], 10, 10, 10),
        (RunFailures(unrecorded=True), [True], 10, 10, 10),
        (RunFailures(verdicts=True, unrecorded=True), [True], 1, 10, 1),
        (RunFailures(), [True, None], 0, 10, 10),
        (RunFailures(), [None, False], 0, 1, 1),
        (VERDICTS, [None], 1, 10, 1),
        (UNANSWERED, [False], 10, 1, 1),
        (RunFailures(verdicts=True, forbidden=True), [True], 1, 1, 1),
        (RunFailures(verdicts=True, unanswered=True), [True], 1, 10, 1),
        (UNDECIDED, [True], 10, 0, 10),
        (UNDECIDED, [False], 10, 1, 1),
        (RunFailures(verdicts=True, undecided=True), [True], 1, 0, 1),
        (WORSE, [True], 1, 0, 1),
        (RunFailures(worse=True, undecided=True, unanswered=True), [True], 1, 10, 1),
    ],
)
def test_the_exit_status_says_what_people_should_do(
    ending: RunFailures, held: list[bool | None], items: int, by_gates: int, both: int
) -> None:
    wanted: dict[Fail, int] = {"items": items, "gates": by_gates, "both": both}
    assert {fail: ending.exit_status(fail, gates(*held)) for fail in wanted} == wanted

from __future__ import annotations

from fractions import Fraction

import pytest

from pytest_fcall.plugin.ending import Ending, Fail
from pytest_fcall.tracking.gates import Gate, GateVerdict


def gates(*held: bool | None) -> list[GateVerdict]:
    return [GateVerdict(Gate("cases>=1", "cases", ">=", Fraction(1)), None, each) for each in held]


VERDICTS, OTHERWISE, UNANSWERED = Ending(verdicts=True), Ending(otherwise=True), Ending(unanswered=True)


@pytest.mark.parametrize(
    ("ending", "held", "items", "by_gates", "both"),
    [
        (Ending(), [], 0, 0, 0),
        (VERDICTS, [True], 1, 0, 1),
        (OTHERWISE, [True], 1, 1, 1),
        (UNANSWERED, [True], 10, 10, 10),
        (Ending(), [True, None], 0, 10, 10),
        (Ending(), [None, False], 0, 1, 1),
        (VERDICTS, [None], 1, 10, 1),
        (UNANSWERED, [False], 10, 1, 1),
        (Ending(verdicts=True, forbidden=True), [True], 1, 1, 1),
        (Ending(verdicts=True, unanswered=True), [True], 1, 10, 1),
    ],
)
def test_the_exit_status_says_what_people_should_do(
    ending: Ending, held: list[bool | None], items: int, by_gates: int, both: int
) -> None:
    wanted: dict[Fail, int] = {"items": items, "gates": by_gates, "both": both}
    assert {fail: ending.status(fail, gates(*held)) for fail in wanted} == wanted

from __future__ import annotations

from fractions import Fraction

import pytest

from pytest_fcall.session.result.exit_status import Fail, RunFailures
from pytest_fcall.session.result.gates import decision_text
from pytest_fcall.tracking.gates import Gate, GateVerdict

WRONG, WORSE = RunFailures(verdicts=True), RunFailures(worse=True)
FORBIDDEN = "a forbidden call was made, which no gate excuses"
INSTEAD = "gates decide in place of single verdicts"
TO_COUNT = "--fc-fail=both makes failed cases count, too"


def gates(*held: bool | None) -> list[GateVerdict]:
    return [GateVerdict(Gate("cases>=3", "cases", ">=", Fraction(3)), Fraction(2), each, "") for each in held]


@pytest.mark.parametrize(
    ("fail", "failures", "held", "failed", "said"),
    [
        ("gates", RunFailures(), [True], 0, ""),
        ("gates", WRONG, [True], 1, f"passed although 1 case failed: {INSTEAD}, and cases>=3 (2) holds; {TO_COUNT}"),
        (
            "gates",
            RunFailures(verdicts=True, worse=True),
            [True] * 5,
            2,
            f"passed although 2 cases failed and a model is worse than before: {INSTEAD}, and cases>=3 (2), "
            f"cases>=3 (2), cases>=3 (2) and 2 more hold; {TO_COUNT}",
        ),
        ("gates", RunFailures(), [False], 0, "failed: cases>=3 (2) does not hold"),
        ("gates", WRONG, [True, False], 1, f"failed: cases>=3 (2) does not hold; {INSTEAD} (1 case failed)"),
        ("gates", RunFailures(verdicts=True, forbidden=True), [True], 1, f"failed: {FORBIDDEN}"),
        (
            "gates",
            RunFailures(otherwise=True),
            [True],
            0,
            "failed: there is an error, or a plain test failed, which no gate excuses",
        ),
        ("gates", WRONG, [None, True], 1, "inconclusive: cases>=3 (2) cannot be judged"),
        (
            "gates",
            RunFailures(unanswered=True),
            [True],
            0,
            "inconclusive: replies are missing, which no gate excuses",
        ),
        ("both", RunFailures(), [True], 0, ""),
        ("both", WRONG, [True], 1, "failed: 1 case failed, which counts beside the gates (--fc-fail=both)"),
        ("both", RunFailures(undecided=True), [True], 1, ""),
        ("items", WRONG, [True], 1, "failed: 1 case failed, which decides in place of the gates (--fc-fail=items)"),
        (
            "items",
            WORSE,
            [True],
            0,
            "failed: a model is worse than before, which decides in place of the gates (--fc-fail=items)",
        ),
        (
            "items",
            RunFailures(),
            [False, False],
            0,
            "passed although cases>=3 (2) and cases>=3 (2) do not hold: --fc-fail=items leaves the decision to the "
            "cases",
        ),
        ("items", RunFailures(), [None], 0, ""),
    ],
)
def test_one_sentence_says_what_decided(
    fail: Fail, failures: RunFailures, held: list[bool | None], failed: int, said: str
) -> None:
    assert decision_text(fail, failures, gates(*held), failed) == said

"""The retired sets whose calls are carried out: what the leaderboard calls right is right here."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_fcall.core import Case
from pytest_fcall.suites.bfcl.answers import BfclAnswer
from pytest_fcall.suites.bfcl.executable import ExecutedJudge
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.conformance.conftest import Held
from tests.conformance.official.client import PYTHON

PARTS = ("exec_simple", "exec_multiple", "exec_parallel", "exec_parallel_multiple")

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="`make conformance` makes the official environment")


@pytest.fixture(scope="module")
def executed() -> dict[str, ExecutedJudge]:
    (folder,) = PYTHON.parent.parent.glob("lib/python3*/site-packages/bfcl_eval/data")
    suite = BfclSuite()
    cases = [case for part in PARTS for case in suite.cases(part, Path(folder)) if isinstance(case, Case)]
    assert len(cases) == 240
    return {case.id: case.judge for case in cases if isinstance(case.judge, ExecutedJudge)}


def test_the_right_calls_are_right_in_any_order(executed: dict[str, ExecutedJudge], held: Held) -> None:
    assert Counter(id_.rpartition("_")[0] for id_ in executed) == dict(zip(PARTS, (62, 31, 31, 10), strict=True))
    for id_, judge in executed.items():
        sources = judge.row["sources"]
        assert isinstance(sources, list)
        assert judge.verdict(BfclAnswer("decoded", sources[::-1])).valid, id_
    held("BFCL", "right calls of the executed sets are right", "the results in the data", len(executed))


def test_one_call_too_few_is_never_right(executed: dict[str, ExecutedJudge]) -> None:
    for id_, judge in executed.items():
        sources = judge.row["sources"]
        assert isinstance(sources, list)
        assert not judge.verdict(BfclAnswer("decoded", sources[1:])).valid, id_

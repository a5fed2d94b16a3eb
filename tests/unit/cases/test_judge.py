"""`$judge` in case files."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.core import Operator
from tests.unit.cases.reading import TOOLS, case, faults

SAID = "prompt: x\nexpect: no_call\n"


def test_votes_may_stand_beside_it(tmp_path: Path) -> None:
    found = case(f"{SAID}answer: {{$judge: is polite, votes: 3}}", tmp_path)
    assert found.turns[0].answer == Operator("judge", "is polite", {"votes": 3})


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        ("0", "the number of `votes` must be a positive integer"),
        ("26", "the number of `votes` must be at most 25"),
        ("2.5", "the number of `votes` must be an integer, not the value `2.5`"),
        ("many", "the number of `votes` must be an integer, not a string"),
    ],
)
def test_votes_are_a_small_whole_number(votes: str, message: str, tmp_path: Path) -> None:
    (fault,) = faults(f"{SAID}answer: {{$judge: is polite, votes: {votes}}}", tmp_path)
    assert fault.message == message


def test_a_judged_answer_is_no_verdict_of_the_official_checker(tmp_path: Path) -> None:
    head = f"{TOOLS}defaults: {{profile: bfcl}}\n"
    (fault,) = faults(f"{SAID}answer: {{$not: {{$judge: is rude}}}}", tmp_path, head=head)
    assert (fault.code, fault.message) == ("beyond-bfcl", "`$judge` is not supported by `profile: bfcl`")

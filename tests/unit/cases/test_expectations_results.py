"""`result` beside a call, in case files and in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cases.expectations import ExpectationError, read_expectation
from pytest_fcall.core import Operator
from tests.unit.cases.reading import TOOLS, case, faults

BFCL = f"{TOOLS}defaults: {{profile: bfcl}}\n"


def test_what_a_call_must_give_stands_beside_it_and_makes_a_conversation(tmp_path: Path) -> None:
    found = case("prompt: x\nexpect: [{ping: , result: {$structure: {ok: true}}}]", tmp_path)
    assert found.turns[0].expect is not None
    ((call,),) = found.turns[0].expect.stages
    assert call.result == Operator("structure", {"ok": True})
    assert found.mode == "conversation"


@pytest.mark.parametrize(
    "result", ["3", "[a, {b: 1.5}]", "{$structure: [1]}", "{$approx: 3, within: 20 %}", "{$literal: {$a: 1}}"]
)
def test_the_official_checker_knows_three_ways_to_compare_results(result: str, tmp_path: Path) -> None:
    said = f"prompt: x\nexpect: [{{ping: , result: {result}}}]\nresult: {result}"
    assert case(said, tmp_path, head=BFCL).rules.profile == "bfcl"


@pytest.mark.parametrize(
    ("result", "name"),
    [
        ("{$gt: 3}", "`$gt`"),
        ("{$approx: 3}", "`$approx`"),
        ("{$approx: 3, within: 5%}", "`$approx`"),
        ("[{$any: [1, 2]}]", "`$any`"),
    ],
)
def test_other_ways_are_a_fault_under_its_profile(result: str, name: str, tmp_path: Path) -> None:
    beside, below = faults(f"prompt: x\nexpect: [{{ping: , result: {result}}}]\nresult: {result}", tmp_path, head=BFCL)
    assert beside.message == f"{name} in `result` of `ping` is not supported by `profile: bfcl`"
    assert below.message == f"{name} in `result` is not supported by `profile: bfcl`"
    assert "`$structure`, and `$approx` within 20 %" in below.hint


@pytest.mark.parametrize(
    "expected", [[{"ping": {}, "result": 3}], {"any_of": ["no_call", {"calls": [{"ping": {}, "result": 3}]}]}]
)
def test_a_reply_alone_has_no_results_that_could_be_compared(expected: object) -> None:
    with pytest.raises(ExpectationError, match="`result` needs a call that is carried out"):
        read_expectation(expected)

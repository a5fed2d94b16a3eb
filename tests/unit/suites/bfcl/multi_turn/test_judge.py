from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_fcall.core import (
    Call,
    Calls,
    Case,
    Json,
    Location,
    RawCall,
    Reply,
    Request,
    Step,
    Transcript,
    TranscriptTurn,
)
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.suites.bfcl.answers import BfclAnswer
from pytest_fcall.suites.bfcl.multi_turn.conversations import CheckerProcess, MultiTurnJudge, parse_truth
from tests.unit.suites.bfcl.multi_turn.package import case_row

BOOKED = ["book(seat='4A')"]
LOOKED = ["look()"]


def judge(bench: CheckerProcess, **fields: Json) -> MultiTurnJudge:
    row = case_row(**fields)
    return MultiTurnJudge(row, parse_truth(row), bench)


def verdict(bench: CheckerProcess, *turns: Sequence[Sequence[str]], **fields: Json) -> Verdict:
    """The verdict on calls as source, by turns and replies."""
    return judge(bench, **fields).verdict([[BfclAnswer("decoded", reply) for reply in turn] for turn in turns])


def test_right_calls_pass_in_one_reply_or_in_several(bench: CheckerProcess) -> None:
    assert verdict(bench, [BOOKED], [LOOKED]).valid
    assert verdict(bench, [LOOKED, BOOKED], [[], LOOKED, []], ground_truth=[[*LOOKED, *BOOKED], LOOKED]).valid


def test_other_calls_that_come_to_the_same_pass(bench: CheckerProcess) -> None:
    assert verdict(bench, [["look()"], ["book('4A', 10)"]], [LOOKED]).valid


@pytest.mark.parametrize(
    ("turns", "error_type", "paths"),
    [
        ([[], [LOOKED]], "empty_turn_model_response", ["turns[0].calls"]),
        ([[["book(seat='4B')"]], [LOOKED]], "instance_state_mismatch", ["turns[0].state.TicketAPI.tickets"]),
        ([[["book(seat='4A', price=1)"]], [LOOKED]], "execution_response_mismatch", ["turns[0].calls"]),
        ([[BOOKED], [["add(a=1, b=1)"]]], "execution_response_mismatch", ["turns[1].calls"]),
        ([[BOOKED]], "force_terminated", ["turns[1].steps"]),
    ],
)
def test_what_is_wrong_has_its_official_name_and_a_place(
    bench: CheckerProcess, turns: list[list[list[str]]], error_type: str, paths: list[str]
) -> None:
    found = verdict(bench, *turns)
    assert not found.valid
    assert found.error_type == f"multi_turn:{error_type}"
    assert [reason.path for reason in found.reasons] == paths


def test_a_result_that_is_right_twice_must_come_twice(bench: CheckerProcess) -> None:
    twice: Json = [["look()", "look()"], ["look()"]]
    assert verdict(bench, [LOOKED, LOOKED], [LOOKED], ground_truth=twice).valid
    found = verdict(bench, [LOOKED], [LOOKED], ground_truth=twice)
    assert [reason.message for reason in found.reasons] == ["No call in this turn returned ['1A']"]


def test_what_an_earlier_turn_has_shown_need_not_be_asked_again(bench: CheckerProcess) -> None:
    assert verdict(
        bench, [[*BOOKED, "add(a=1, b=2)"]], [["add(a=2, b=2)"]], ground_truth=[BOOKED, ["add(a=1, b=2)"]]
    ).valid


def test_a_turn_in_which_nothing_is_right_is_not_looked_at(bench: CheckerProcess) -> None:
    """As it is officially: only what the next turn sees of it counts."""
    empty: Json = [[], ["look()"]]
    assert verdict(bench, [["add(a=1, b=2)"]], [LOOKED], ground_truth=empty).valid
    assert not verdict(bench, [BOOKED], [LOOKED], ground_truth=empty).valid


def test_each_question_has_instances_of_its_own(bench: CheckerProcess) -> None:
    for _ in range(2):
        assert verdict(bench, [BOOKED], [LOOKED]).valid


def test_a_state_is_told_by_what_it_is_and_what_it_should_be(bench: CheckerProcess) -> None:
    found = verdict(bench, [["write(text='b')"]], ground_truth=[["write(text='a')"]])
    assert found.reasons[0].message == "`TicketAPI.note` is 'b'; the right calls make it 'a'"
    assert [turn.valid for turn in found.turns] == [False]


def test_what_the_official_check_breaks_on_is_told_by_its_exception(bench: CheckerProcess) -> None:
    found = verdict(bench, [["spoil()"]], ground_truth=[["spoil()"]])
    assert found.error_type == "case_error:RuntimeError"


def test_a_call_that_ends_the_process_costs_no_other_its_verdict(bench: CheckerProcess) -> None:
    found = verdict(bench, [["leave()"]], [LOOKED])
    assert (found.valid, found.error_type) == (False, "case_error:Killed")
    assert verdict(bench, [BOOKED], [LOOKED]).valid


def held(*steps: Step) -> TranscriptTurn:
    return TranscriptTurn(steps, "answered")


def case(decoder: str | None = None) -> Case:
    return Case("case", Location("", 1), (), decoder=decoder)


def said(reply: Reply) -> Step:
    return Step(Request(({"role": "user", "content": "Book 4A."},)), reply, Calls())


def kept(*calls: Call) -> Step:
    """A step as a baseline has it."""
    return Step(Request(()), Reply(), Calls(calls))


BOOK = Call("book", {"seat": "4A"})
LOOK = Call("look", {})


def test_a_conversation_is_judged_by_what_was_said_in_it(bench: CheckerProcess) -> None:
    booked, looked = (RawCall("book", '{"seat": "4A"}'),), (RawCall("look", "{}"),)
    turns = held(said(Reply(tool_calls=booked)), said(Reply("Done."))), held(said(Reply(tool_calls=looked)))
    assert judge(bench)(case(), Transcript(turns)).valid


def test_a_model_that_was_told_of_its_tools_has_said_text(bench: CheckerProcess) -> None:
    turns = held(said(Reply("[book(seat='4A')]")), said(Reply("Done."))), held(said(Reply("[look()]")))
    assert judge(bench)(case("bfcl"), Transcript(turns)).valid
    assert not judge(bench)(case(), Transcript(turns)).valid


@pytest.mark.parametrize("decoder", [None, "bfcl"])
def test_what_a_baseline_keeps_is_enough(bench: CheckerProcess, decoder: str | None) -> None:
    last = replace(kept(LOOK), reply=Reply("(not kept)"))
    assert judge(bench)(case(decoder), Transcript((held(kept(BOOK), kept()), held(last)))).valid
    assert not judge(bench)(case(decoder), Transcript((held(kept(LOOK)), held(last)))).valid


def test_the_steps_of_an_app_are_judged_one_by_one(bench: CheckerProcess) -> None:
    reply = Reply(tool_calls=(RawCall("book", {"seat": "4A"}),), trail=({"role": "assistant", "content": "Booked."},))
    booked, looked = (replace(said(reply), calls=Calls((call,))) for call in (BOOK, LOOK))
    assert judge(bench)(case(), Transcript((held(booked), held(looked)))).valid

from __future__ import annotations

import pytest

from pytest_fcall.core import (
    Call,
    Calls,
    Expectation,
    ExpectedCall,
    Operator,
    Pattern,
    Reply,
    Rules,
    Transcript,
    Turn,
    Verdict,
)
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.matching.transcript import joined_verdict, judge_transcript
from pytest_fcall.matching.values import judge_value

CALLED = Calls((Call("cancel", {}),))
CANCEL = Expectation(stages=((ExpectedCall("cancel"),),))


def judged(
    text: str, turn: Turn, calls: Calls = CALLED, *, rules: Rules | None = None, finish: str = "stop"
) -> Verdict:
    reply = Reply(text, finish="length" if finish == "length" else "stop")
    return judge_turn(reply, calls, turn, MatchContext((), rules or Rules()))


@pytest.mark.parametrize(
    "answer",
    [
        "It is cancelled.",
        Operator("contains", "cancelled"),
        Operator("regex", r"It is \w+\."),
        Operator("not", Operator("contains", "refund")),
        Operator("all", [Operator("contains", "It"), Operator("contains", "cancelled")]),
    ],
)
def test_an_answer_may_be_text_or_any_operator(answer: Pattern) -> None:
    assert judged("It is cancelled.", Turn((), CANCEL, answer)).valid


def test_a_wrong_answer_beside_right_calls_is_the_one_reason() -> None:
    verdict = judged("Done.", Turn((), CANCEL, Operator("contains", "cancelled")))
    (reason,) = verdict.reasons
    assert (reason.kind, reason.path, reason.got) == ("wrong_answer", "answer", "Done.")
    assert not verdict.valid


def test_what_is_wrong_in_the_json_of_an_answer_is_named_by_its_path() -> None:
    expected = Operator("json", {"orders": [{"id": 7}]}, {"in": "text"})
    (reason,) = judged('Here: {"orders": [{"id": 8}]}', Turn((), None, expected)).reasons
    assert (reason.kind, reason.path) == ("wrong_answer", "answer.orders[0].id")


def test_an_answer_expected_too_deeply_is_no_crash() -> None:
    deep: Pattern = "x"
    for _ in range(100_000):
        deep = Operator("not", deep)
    (reason,) = judged("x", Turn((), None, deep)).reasons
    assert "nested too deeply" in reason.message


def test_wrong_calls_and_a_wrong_answer_are_both_told() -> None:
    verdict = judged("Done.", Turn((), CANCEL, "Cancelled."), Calls((Call("refund", {}),)))
    assert [reason.kind for reason in verdict.reasons] == ["wrong_tool", "wrong_answer"]


def test_where_only_an_answer_is_expected_calls_are_free() -> None:
    assert judged("Done.", Turn((), None, "Done.")).valid
    assert judged("Done.", Turn((), None, "Done."), Calls()).valid


def test_a_truncated_reply_is_wrong_whatever_it_says() -> None:
    verdict = judged("Done.", Turn((), None, "Done."), finish="length")
    assert [reason.kind for reason in verdict.reasons] == ["truncated"]


def test_rules_for_strings_count_and_rules_for_arguments_do_not() -> None:
    assert judged("done!", Turn((), CANCEL, "Done!"), rules=Rules(strings="relaxed")).valid
    assert not judged("done!", Turn((), CANCEL, "Done!")).valid


def test_a_right_answer_beside_wrong_calls_makes_no_right_reply() -> None:
    verdict = judged("cancelled", Turn((), CANCEL, "cancelled"), Calls((Call("book", {}),)))
    assert not verdict.valid
    assert [reason.kind for reason in verdict.reasons] == ["wrong_tool"]


def test_an_answer_with_more_than_is_expected_of_it_is_wrong() -> None:
    found = judge_value({"a": 1}, {"a": 1, "b": 2}, "wrong_answer", ("answer",), MatchContext(()))
    assert [(each.kind, each.path) for each in found] == [("wrong_answer", "answer.b")]


def test_of_calls_beyond_all_measure_their_number_is_told() -> None:
    many = Calls((Call("cancel", {}),) * 1_300)
    (reason,) = judged("", Turn((), CANCEL), many).reasons
    assert reason.message == "The reply has 1,300 calls, more than are compared one by one."
    assert (reason.kind, reason.path, reason.got) == ("wrong_count", "calls", 1_300)


def test_of_several_verdicts_the_first_error_type_is_that_of_all_and_turns_that_were_never_reached_are_wrong() -> None:
    joined = joined_verdict(
        [Verdict(True), Verdict(False, error_type="a"), Verdict(False, error_type="b")], several=True
    )
    assert (joined.valid, joined.error_type, len(joined.turns)) == (False, "a", 3)
    assert joined_verdict([Verdict(True)], several=True).error_type is None
    case = judge_transcript(Transcript(()), [Turn(()), Turn(())], MatchContext(()))
    assert [(each.kind, each.path, each.message) for each in case.reasons] == [
        ("no_call", "turns[0].calls", "Turn 1 was never reached")
    ]

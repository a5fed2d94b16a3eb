"""What each call gave, by what is expected of the call it is paired with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_fcall.core import (
    Call,
    CallResult,
    Calls,
    Expectation,
    ExpectedCall,
    Reply,
    Request,
    Rules,
    Step,
    Tool,
    Transcript,
    TranscriptTurn,
    Turn,
    Verdict,
)
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.transcript import judge_transcript
from tests.unit.matching.language import findings, pattern

WEATHER = Tool("weather", parameters={"type": "object", "properties": {"city": {}}})


def expected(city: str, result: Any = None, name: str | None = None) -> ExpectedCall:
    return ExpectedCall("weather", {"city": city}, result=pattern(result), name=name)


def judged(
    expectation: Expectation,
    gave: dict[str, CallResult],
    rules: Rules | None = None,
    result: Any = None,
    *,
    together: bool = True,
) -> Verdict:
    groups = [[*gave]] if together else [[city] for city in gave]
    steps = [
        Step(
            Request(()),
            Reply(),
            Calls(tuple(Call("weather", {"city": city}) for city in cities)),
            tuple(gave[city] for city in cities),
        )
        for cities in groups
    ]
    held = TranscriptTurn((*steps, Step(Request(()), Reply("Done."), Calls())), "answered")
    turn = Turn((), expectation, result=pattern(result))
    return judge_transcript(Transcript((held,)), [turn], MatchContext([WEATHER], rules or Rules()))


PARALLEL = Expectation(stages=((expected("Oslo", {"$lt": 10}), expected("Rome", {"$gt": 10})),))
BFCL = Rules(profile="bfcl")


@pytest.mark.parametrize("cities", [("Oslo", "Rome"), ("Rome", "Oslo")])
def test_parallel_calls_are_judged_by_their_own_results(cities: tuple[str, ...]) -> None:
    right = {"Oslo": CallResult(3), "Rome": CallResult(20)}
    assert judged(PARALLEL, {city: right[city] for city in cities}).valid


def test_a_wrong_result_is_told_of_the_call_that_gave_it() -> None:
    verdict = judged(PARALLEL, {"Rome": CallResult(20), "Oslo": CallResult(20)})
    assert findings(verdict) == ["wrong_result calls[1].result"]


def test_a_call_that_fails_is_wrong_only_where_something_is_expected_of_it() -> None:
    failed = CallResult(error="503")
    assert findings(judged(PARALLEL, {"Oslo": failed, "Rome": CallResult(20)})) == ["wrong_result calls[0].result"]
    assert judged(Expectation(stages=((expected("Oslo"),),)), {"Oslo": failed}).valid


def test_results_of_the_alternative_that_holds_count() -> None:
    either = Expectation("any_of", alternatives=(Expectation("no_call"), Expectation(stages=((expected("Oslo", 3),),))))
    assert judged(either, {"Oslo": CallResult(3)}).valid
    assert findings(judged(either, {"Oslo": CallResult(4)})) == ["wrong_result calls[0].result"]


def test_a_result_may_be_that_of_an_earlier_call() -> None:
    stages = ((expected("Oslo", name="first"),), (expected("Bergen", {"$from": "first.result"}),))
    for bergen, found in ((3, []), (4, ["wrong_result calls[1].result"])):
        gave = {"Oslo": CallResult(3), "Bergen": CallResult(bergen)}
        assert findings(judged(Expectation(stages=stages), gave, together=False)) == found


@pytest.mark.parametrize(
    ("result", "gave", "error"),
    [
        (3, 3.0, None),
        (3, 4, "executable_checker:wrong_result"),
        ({"$approx": 100, "within": "20%"}, 119, None),
        ({"$approx": 100, "within": "20 %"}, 121, "executable_checker:wrong_result_real_time"),
        ({"$structure": {"a": 1}}, {"a": "x"}, None),
        ({"$structure": {"a": 1}}, {"b": 1}, "executable_checker:wrong_result_type:dict_key_not_found"),
        ({"$literal": {"$a": 1}}, {"$a": 1}, None),
        ([{"$literal": 1}], [1], None),
    ],
)
def test_the_profile_bfcl_judges_results_by_its_three_rules(result: Any, gave: Any, error: str | None) -> None:
    for verdict in (
        judged(Expectation(stages=((expected("Oslo", result),),)), {"Oslo": CallResult(gave)}, BFCL),
        judged(Expectation(stages=((expected("Oslo"),),)), {"Oslo": CallResult(gave)}, BFCL, result),
    ):
        assert verdict.valid is (error is None)
        assert all(f"(bfcl: {error})" in reason.message for reason in verdict.reasons)


@pytest.mark.parametrize(
    ("result", "name"),
    [
        ({"$gt": 3}, "`$gt`"),
        ({"$approx": 3}, "`$approx`"),
        ({"$approx": 3, "within": "10%"}, "`$approx`"),
        ({"a": [{"$any": [1, 2]}]}, "`$any`"),
        ({"$structure": {"a": {"$type": "integer"}}}, "`$type`"),
    ],
)
def test_what_the_official_checker_has_no_rule_for_is_never_passed_over(result: Any, name: str) -> None:
    verdict = judged(Expectation(stages=((expected("Oslo"),),)), {"Oslo": CallResult(3)}, BFCL, result)
    (reason,) = verdict.reasons
    assert f"not {name} in `result`" in reason.message


def test_a_state_that_was_not_kept_is_not_judged() -> None:
    held = TranscriptTurn((Step(Request(()), Reply("Done."), Calls()),), "answered")
    turn = Turn((), None, state={"open": True})
    assert judge_transcript(Transcript((held,)), [turn], MatchContext([WEATHER], Rules())).valid
    kept = replace(held, state=CallResult({"open": False}))
    assert not judge_transcript(Transcript((kept,)), [turn], MatchContext([WEATHER], Rules())).valid


@pytest.mark.parametrize(("results", "named"), [((), "`weather`"), ((CallResult(7),), "A call")])
def test_a_right_conversation_that_was_stopped_lacks_the_result_of_its_next_call(
    results: tuple[CallResult, ...], named: str
) -> None:
    step = Step(Request(()), Reply(), Calls((Call("weather", {"city": "Oslo"}),)), results)
    turn = Turn((), Expectation(stages=((expected("Oslo"),),)))
    verdict = judge_transcript(Transcript((TranscriptTurn((step,), "stopped"),)), [turn], MatchContext([WEATHER]))
    assert [each.message for each in verdict.reasons] == [
        f"{named} has no result, so the conversation was stopped: add `returns:` or a stub"
    ]

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcall.core import Call, Case, Expectation, ExpectedCall, Outcome, Reason, Rules, Verdict, WireExpectation
from pytest_fcall.core.app import SpansExpectation
from pytest_fcall.core.expectation import CallPattern, MatchRule
from pytest_fcall.core.operators import Operator
from pytest_fcall.core.verdict import Rate, ReasonKind
from pytest_fcall.tracking.case_rates import CaseRates
from pytest_fcall.tracking.comparison import CaseJudgement, ChanceTest, EarlierFacts
from pytest_fcall.tracking.measurement import Key, Measurement, failure_way
from pytest_fcall.tracking.stanza import Stanza, StanzaRequest
from tests.unit.tracking.judging import call, case_of, compare, compared, expected, judged, stanza_of

Reasons = tuple[tuple[ReasonKind, str], ...]

CASE = case_of(expected(city="Oslo"))
RIGHT, OTHERWISE = [call(city="Oslo")], [call(city="Oslo", unit="celsius")]
WRONG, WORSE = [call(city="Rome")], [call(town="Rome")]


def judged_again(stanza: Stanza) -> Verdict:
    return judged(CASE, stanza.calls or ())


@pytest.mark.parametrize(
    ("now", "then", "outcome"),
    [
        (RIGHT, RIGHT, Outcome.OK),
        (RIGHT, OTHERWISE, Outcome.DRIFTED),
        (RIGHT, WRONG, Outcome.FIXED),
        (RIGHT, None, Outcome.NEW),
        (WRONG, RIGHT, Outcome.REGRESSED),
        (WRONG, WRONG, Outcome.KNOWN_FAILURE),
        (WRONG, [call(city="Bern")], Outcome.NEW),
        (WRONG, WORSE, Outcome.NEW),
        (WRONG, None, Outcome.NEW),
    ],
)  # fmt: skip
def test_the_outcome_follows_from_both_verdicts(now: list[Call], then: list[Call] | None, outcome: Outcome) -> None:
    assert compared(CASE, stanza_of(CASE, then) if then else None, now).outcome is outcome


@pytest.mark.parametrize("then", [RIGHT, OTHERWISE, WRONG, WORSE, []])
def test_the_same_reply_is_ok_or_a_known_failure_once_it_is_accepted(then: list[Call]) -> None:
    found = compared(CASE, stanza_of(CASE, then), then)

    assert found.outcome is (Outcome.OK if judged(CASE, then).valid else Outcome.KNOWN_FAILURE)
    assert not found.drift


@pytest.mark.parametrize("then", [RIGHT, WRONG])
@pytest.mark.parametrize("now", [RIGHT, WRONG])
def test_an_expectation_by_which_the_accepted_answer_is_judged_otherwise_makes_an_edited_case(
    then: list[Call], now: list[Call]
) -> None:
    case = case_of(expected(city="Rome"))

    assert compared(case, stanza_of(CASE, then), now).outcome is Outcome.EDITED


def test_an_expectation_by_which_the_accepted_answer_is_judged_as_before_leaves_the_case_the_same() -> None:
    either = case_of(expected(city=Operator("any", ["Oslo", "Bergen"])))

    assert compared(either, stanza_of(CASE, RIGHT), WRONG).outcome is Outcome.REGRESSED
    assert compared(either, stanza_of(CASE, WRONG), RIGHT).outcome is Outcome.FIXED


def test_a_forbidden_call_is_never_a_known_failure() -> None:
    case = case_of(expect=Expectation(stages=((expected(city="Oslo"),),), never=(CallPattern("time"),)))
    forbidden = [call(city="Oslo"), call("time")]

    assert compared(case, stanza_of(case, forbidden), forbidden).outcome is Outcome.NEW


def test_a_reply_that_could_not_be_read_is_known_by_its_stored_reasons() -> None:
    broken = Stanza("oslo", valid=False, reasons=(("malformed", "reply"),))
    verdict = replace(judged(CASE, WRONG), reasons=())

    def never(_: Stanza) -> None:
        raise AssertionError("there are no calls to judge")

    assert compare(broken, verdict, broken, CASE, never).outcome is Outcome.KNOWN_FAILURE  # type: ignore[arg-type]  # never called
    assert compared(CASE, broken, WRONG).outcome is Outcome.NEW
    assert compared(CASE, broken, RIGHT).outcome is Outcome.FIXED
    right = compare(broken, verdict, stanza_of(CASE, RIGHT), CASE, judged_again)
    assert right.outcome is Outcome.REGRESSED


def test_the_same_calls_are_not_judged_a_second_time() -> None:
    def never(_: Stanza) -> Verdict:
        raise AssertionError("they were judged already")

    for calls, outcome in ((RIGHT, Outcome.OK), (WRONG, Outcome.KNOWN_FAILURE)):
        now = stanza_of(CASE, calls)
        assert compare(now, judged(CASE, calls), stanza_of(CASE, calls), CASE, never).outcome is outcome


@pytest.mark.parametrize(
    ("expectation", "outcome"), [("e", Outcome.REGRESSED), ("f", Outcome.EDITED), (None, Outcome.EDITED)]
)
def test_a_judge_that_lacks_the_text_of_the_accepted_answer_edits_no_case(
    expectation: str | None, outcome: Outcome
) -> None:
    wrong = Verdict(False, (Reason("wrong_answer", "answer", ""),))
    case = replace(CASE, judge=lambda *_: wrong)
    then = stanza_of(CASE, RIGHT)._replace(digests={"expectation": expectation} if expectation else {})
    now = then._replace(valid=False, reasons=(("wrong_answer", "answer"),), digests={"expectation": "e"})

    assert compare(now, wrong, then, case, lambda _: wrong).outcome is outcome


def test_a_failure_of_which_a_part_is_not_kept_is_known() -> None:
    calls = tuple(WRONG)
    both: Reasons = (("wrong_value", "calls[0].args.city"), ("wrong_state", "state.asked"))
    verdict = Verdict(False, tuple(Reason(kind, path, "") for kind, path in both))
    then = Stanza("oslo", False, both, calls)

    assert compare(then, verdict, then, replace(CASE, wire=WireExpectation()), judged_again).outcome is (
        Outcome.KNOWN_FAILURE
    )


def test_another_text_is_another_answer() -> None:
    case = case_of(expected(city="Oslo"), answer="rain")
    then = stanza_of(CASE, RIGHT)._replace(answer="rain")
    verdict = judged(case, RIGHT, "sun")
    now = Stanza("oslo", False, (("wrong_answer", "answer"),), tuple(RIGHT), answer="sun")

    found = compare(now, verdict, then, case, lambda stanza: judged(case, stanza.calls or (), stanza.answer or ""))
    assert found.outcome is Outcome.REGRESSED


def test_a_text_that_nothing_was_expected_of_when_a_failure_was_accepted_is_a_failure_of_its_own() -> None:
    case = case_of(expected(city="Oslo"), answer="rain")
    now = Stanza("oslo", False, (("wrong_answer", "answer"),), tuple(RIGHT), answer="sun")
    found = compare(now, judged(case, RIGHT, "sun"), stanza_of(CASE, WRONG), case, lambda _: judged(CASE, WRONG))

    assert found.outcome is Outcome.NEW


def test_a_text_that_nothing_was_expected_of_when_it_was_accepted_is_no_regression() -> None:
    case = case_of(expected(city="Oslo"), answer="rain")
    now = Stanza("oslo", False, (("wrong_answer", "answer"),), tuple(RIGHT), answer="sun")
    worse = now._replace(reasons=(*now.reasons, ("wrong_value", "calls[0].args.city")), calls=tuple(WRONG))
    outcomes = [
        compare(
            each, judged(case, each.calls or (), "sun"), stanza_of(CASE, RIGHT), case, lambda _: judged(CASE, RIGHT)
        )
        for each in (now, worse)
    ]

    assert [each.outcome for each in outcomes] == [Outcome.EDITED, Outcome.REGRESSED]


def outcome_of(now: Reasons, then: Reasons, kept: tuple[StanzaRequest, ...] | None = ()) -> Outcome:
    """Of a case with the same calls on both sides, whose app makes these reasons on the wire."""
    case = replace(CASE, wire=WireExpectation(count=2))
    sides = [Stanza("oslo", not reasons, reasons, tuple(RIGHT), wire=()) for reasons in (now, then)]
    verdicts = [
        Verdict(not reasons, tuple(Reason(kind, path, "") for kind, path in reasons)) for reasons in (now, then)
    ]
    found = compare(sides[0], verdicts[0], sides[1]._replace(wire=kept), case, lambda _: verdicts[1])
    return found.outcome


COUNT: Reasons = (("wrong_count", "wire.count"),)
TOKENS: Reasons = (("wrong_value", "wire.tokens"),)


def test_the_wire_counts_although_the_app_comes_to_the_same() -> None:
    assert outcome_of(COUNT, ()) is Outcome.REGRESSED
    assert outcome_of(COUNT, COUNT) is Outcome.KNOWN_FAILURE
    assert outcome_of(TOKENS, COUNT) is Outcome.NEW
    assert outcome_of((), COUNT) is Outcome.FIXED


def test_a_wire_that_was_not_kept_when_it_was_accepted_is_no_regression() -> None:
    assert outcome_of(COUNT, (), kept=None) is Outcome.EDITED


@pytest.mark.parametrize(("expectation", "outcome"), [("1", Outcome.REGRESSED), ("2", Outcome.EDITED)])
def test_spans_that_are_wrong_are_a_regression_unless_the_case_expects_others_since(
    expectation: str, outcome: Outcome
) -> None:
    case = replace(CASE, spans=SpansExpectation(models=["gpt"]))
    then = stanza_of(CASE, RIGHT)._replace(digests={"expectation": "1"})
    now = then._replace(valid=False, reasons=(("wrong_value", "spans.models"),), digests={"expectation": expectation})

    verdict = Verdict(False, (Reason("wrong_value", "spans.models", ""),))

    assert compare(now, verdict, then, case, lambda _: judged(CASE, RIGHT)).outcome is outcome


@pytest.mark.parametrize("kind", ["wrong_value", "wrong_answer"])
def test_a_wire_that_the_case_asks_for_since_hides_no_regression(kind: ReasonKind) -> None:
    elsewhere: Reasons = ((kind, "calls[0].args.city"),)

    assert outcome_of((*COUNT, *elsewhere), (), kept=None) is Outcome.REGRESSED
    assert outcome_of(elsewhere, (), kept=None) is Outcome.REGRESSED


def test_an_answer_that_the_case_asks_for_since_hides_no_regression_on_the_wire() -> None:
    case = replace(case_of(expected(city="Oslo"), answer="rain"), wire=WireExpectation(count=2))
    verdict = judged(CASE, RIGHT)
    now = Stanza("oslo", False, (("wrong_answer", "answer"), *COUNT), tuple(RIGHT), answer="sun", wire=())

    kept = compare(now, verdict, stanza_of(CASE, RIGHT)._replace(wire=()), case, lambda _: verdict)
    assert kept.outcome is Outcome.REGRESSED
    neither = compare(now, verdict, stanza_of(CASE, RIGHT), case, lambda _: verdict)
    assert neither.outcome is Outcome.EDITED


ANY = Operator("ignore", True)
OR = Operator("any", ["Oslo", "Bergen"])
OPTIONAL = Operator("optional", "celsius")


def of(operator: Operator, path: str) -> Rules:
    return Rules(match=(MatchRule(path, operator),))


@pytest.mark.parametrize(
    ("case", "then", "now", "drift"),
    [
        (CASE, RIGHT, OTHERWISE, ["calls[0].args.unit: 'celsius' is new"]),
        (CASE, OTHERWISE, RIGHT, ["calls[0].args.unit: 'celsius' was removed"]),
        (
            case_of(expected(city="Oslo"), rules=Rules(strings="relaxed")),
            RIGHT,
            [call(city="OSLO")],
            ["calls[0].args.city: 'Oslo' → 'OSLO'"],
        ),
        (case_of(expected(city=OR)), RIGHT, [call(city="Bergen")], []),
        (case_of(expected(city=ANY)), RIGHT, [call()], []),
        (case_of(expected(unit=OPTIONAL)), [call()], [call(unit="celsius")], []),
        (case_of(expected(legs=["a", ANY])), [call(legs=["a", "b"])], [call(legs=["a", "c"])], []),
        (
            case_of(expected(of={"a": "x", "b": ANY})),
            [call(of={"a": "x", "b": "1"})],
            [call(of={"a": "x", "b": "2"})],
            [],
        ),
        (
            case_of(expected(city=Operator("literal", "Oslo")), rules=Rules(strings="relaxed")),
            RIGHT,
            [call(city="OSLO")],
            ["calls[0].args.city: 'Oslo' → 'OSLO'"],
        ),
        (
            case_of(expected(of=Operator("literal", {"a": "x"}), legs=Operator("literal", ["a"]))),
            [call(of={"a": "x"}, legs=["a"])],
            [call(of={"a": "x"}, legs=["a"], unit="celsius")],
            ["calls[0].args.unit: 'celsius' is new"],
        ),
        (
            case_of(expected(city="Oslo"), rules=Rules(strings="relaxed", match=(MatchRule("*.city"),))),
            RIGHT,
            [call(city="OSLO")],
            ["calls[0].args.city: 'Oslo' → 'OSLO'"],
        ),
        (
            case_of(expected(), ExpectedCall("time", times=(0, 1))),
            [call(), call("time")],
            [call()],
            ["calls[1] time() is gone"],
        ),
        (case_of(ExpectedCall("weather", None)), RIGHT, WRONG, []),
        (case_of(ExpectedCall("weather", {"city": "Oslo"}, open=True)), RIGHT, OTHERWISE, []),
        (
            case_of(ExpectedCall("weather", {"city": "Oslo"}, open=True), rules=Rules(strings="relaxed")),
            RIGHT,
            [call(city="OSLO", unit="celsius")],
            ["calls[0].args.city: 'Oslo' → 'OSLO'"],
        ),
        (case_of(expected(), expected("time")), [call(), call("time")], [call("time"), call()], []),
        (
            case_of(expected(), expected("time")),
            [call(), call("time")],
            [call("time", unit="celsius"), call()],
            ["calls[0].args.unit: 'celsius' is new"],
        ),
        (case_of(expected(city="x"), rules=of(ANY, "*.city")), RIGHT, WRONG, []),
        (
            case_of(
                expected(city=Operator("literal", "Oslo")),
                rules=Rules(strings="relaxed", match=of(ANY, "*.city").match),
            ),
            RIGHT,
            [call(city="OSLO")],
            ["calls[0].args.city: 'Oslo' → 'OSLO'"],
        ),
        (
            case_of(expected(of={"a": "x"}), rules=of(ANY, "weather.of.a")),
            [call(of={"a": "1"})],
            [call(of={"a": "2"})],
            [],
        ),
        (case_of(expect=Expectation("any_call")), RIGHT, [call("time")], []),
        (case_of(expect=Expectation(stages=((expected(),),), extra="allow")), [call()], [call(), call("time")], []),
        (
            case_of(
                expect=Expectation(
                    "any_of",
                    alternatives=(Expectation(stages=((expected(),),)), Expectation(stages=((expected("time"),),))),
                )
            ),
            [call()],
            [call("time")],
            [],
        ),
    ],
)
def test_drift_is_blind_to_what_the_expectation_leaves_open(
    case: Case, then: list[Call], now: list[Call], drift: list[str]
) -> None:
    found = compared(case, stanza_of(case, then), now)

    assert list(found.drift) == drift
    assert found.outcome is (Outcome.DRIFTED if drift else Outcome.OK)


def test_a_case_without_an_expectation_does_not_drift() -> None:
    case = replace(CASE, turns=(replace(CASE.turns[0], expect=None),))

    assert compared(case, stanza_of(case, RIGHT), WRONG).outcome is Outcome.OK


@pytest.mark.parametrize(
    ("then", "now", "outcome"),
    [
        ((4, 5), (0, 5), Outcome.REGRESSED),
        ((4, 5), (3, 5), Outcome.KNOWN_FAILURE),
        ((0, 5), (4, 5), Outcome.KNOWN_FAILURE),
        ((19, 20), (0, 1), Outcome.KNOWN_FAILURE),
    ],
)
def test_of_several_answers_hardly_fewer_may_be_right(
    then: tuple[int, int], now: tuple[int, int], outcome: Outcome
) -> None:
    baseline = stanza_of(CASE, WRONG)._replace(samples=then)
    stanza = stanza_of(CASE, WRONG)._replace(samples=now)
    assert compare(stanza, judged(CASE, WRONG), baseline, CASE, judged_again).outcome is outcome


def test_of_several_answers_each_may_be_wrong_in_a_way_that_is_known() -> None:
    wrong, worse = stanza_of(CASE, WRONG), stanza_of(CASE, WORSE)
    baseline = wrong._replace(samples=(0, 5), reasons=(*wrong.reasons, *worse.reasons))
    now = worse._replace(samples=(0, 5))
    found = compare(now, judged(CASE, WORSE), baseline, CASE, judged_again)
    assert found.outcome is Outcome.KNOWN_FAILURE
    baseline = baseline._replace(reasons=wrong.reasons)
    found = compare(now, judged(CASE, WORSE), baseline, CASE, judged_again)
    assert found.outcome is Outcome.NEW


def test_an_edited_case_is_no_regression_although_it_was_asked_several_times() -> None:
    edited = case_of(expected(city="Bern"))
    baseline = stanza_of(CASE, RIGHT)._replace(samples=(5, 5))
    now = stanza_of(edited, RIGHT)._replace(samples=(0, 5))

    found = compare(now, judged(edited, RIGHT), baseline, edited, lambda _: judged(edited, RIGHT))
    assert found.outcome is Outcome.EDITED


def test_one_wrong_answer_after_many_right_ones_has_regressed() -> None:
    baseline = stanza_of(CASE, RIGHT)._replace(samples=(20, 20))
    found = compared(CASE, baseline, WRONG)
    assert (found.outcome, found.before, found.now) == (Outcome.REGRESSED, (20, 20), (0, 1))


def test_a_case_that_is_asked_once_is_known_only_by_all_of_its_reasons() -> None:
    both, one = stanza_of(CASE, [call(city="Rome", unit=5)]), stanza_of(CASE, WRONG)
    assert compared(CASE, both, WRONG).outcome is Outcome.NEW
    assert compared(CASE, both._replace(samples=(0, 5)), WRONG).outcome is Outcome.NEW
    several = compare(one._replace(samples=(0, 5)), judged(CASE, WRONG), both, CASE, judged_again)
    assert several.outcome is Outcome.NEW


def test_a_case_that_is_asked_several_times_is_known_by_some_of_its_reasons() -> None:
    both, one = stanza_of(CASE, [call(city="Rome", unit=5)]), stanza_of(CASE, WRONG)
    now, then = one._replace(samples=(0, 5)), both._replace(samples=(0, 5))
    assert compare(now, judged(CASE, WRONG), then, CASE, judged_again).outcome is Outcome.KNOWN_FAILURE


def test_drift_is_told_of_each_turn_of_a_conversation() -> None:
    def held(calls: list[Call]) -> tuple[Stanza, Verdict]:
        verdict = Verdict(True, turns=(judged(CASE, RIGHT), judged(CASE, calls)))
        return Stanza("oslo", True, calls=(*RIGHT, *calls), steps=((1,), (1,))), verdict

    case = replace(CASE, turns=CASE.turns * 2)
    (now, verdict), (then, before) = held(OTHERWISE), held(RIGHT)
    found = compare(now, verdict, then, case, lambda _: before)
    assert (found.outcome, found.drift) == (Outcome.DRIFTED, ("calls[1].args.unit: 'celsius' is new",))


def test_an_answer_that_was_accepted_before_its_case_became_a_conversation_does_not_drift() -> None:
    case = replace(CASE, turns=CASE.turns * 2)
    verdict, before = (Verdict(True, turns=(judged(CASE, RIGHT),) * 2) for _ in range(2))
    now = Stanza("oslo", True, calls=(*RIGHT, *OTHERWISE), steps=((1,), (1,)))
    found = compare(now, verdict, stanza_of(CASE, RIGHT), case, lambda _: before)
    assert (found.outcome, found.drift) == (Outcome.OK, ())


def test_an_answer_that_was_right_although_its_calls_could_not_be_read_does_not_drift() -> None:
    found = compared(CASE, Stanza("oslo", valid=True), RIGHT)
    assert (found.outcome, found.drift) == (Outcome.OK, ())


def test_nothing_measured_and_nothing_accepted_of_a_case_that_was_never_right_is_a_new_failure() -> None:
    known = EarlierFacts(None, Measurement("oslo", Key.of({}), Rate(0, 1)))
    found = compared(CASE, known, WRONG)
    assert (found.outcome, found.before) == (Outcome.NEW, Rate(0, 1))
    assert compared(CASE, known, RIGHT).outcome is Outcome.FIXED


def test_a_tool_that_was_renamed_is_no_change_of_the_model() -> None:
    case = case_of(expected("get_weather", city="Oslo"))
    then = stanza_of(CASE, RIGHT)._replace(digests={"tool:weather": "1234"})
    right = [call("get_weather", city="Oslo")]
    for digests, outcome in (
        ({"tool:get_weather": "1234"}, Outcome.OK),
        ({"tool:get_weather": "5678"}, Outcome.EDITED),
    ):
        now = stanza_of(case, right)._replace(digests=digests)
        found = compare(now, judged(case, right), then, case, lambda each: judged(case, each.calls or ()))
        assert found.outcome is outcome


def test_a_tool_that_was_renamed_changes_nothing_in_a_reply_that_could_not_be_read() -> None:
    then = Stanza("oslo", valid=False, reasons=(("malformed", "reply"),), digests={"tool:weather": "1234"})
    now = then._replace(digests={"tool:get_weather": "1234"})
    assert compare(now, judged(CASE, WRONG), then, CASE, judged_again).outcome is Outcome.KNOWN_FAILURE


def test_answers_are_of_their_own_run_and_asked_once_where_nothing_else_is_said() -> None:
    now = stanza_of(CASE, WRONG)
    plain = CaseJudgement(now, judged(CASE, WRONG), frozenset({failure_way(now)}))
    assert (plain.is_asked_again, plain.is_replayed) == (False, False)
    assert ChanceTest(CaseRates.estimated([]), 0.005).compare(Rate(1, 1), Rate(0, 1), 1)[0] is Outcome.REGRESSED


def test_a_place_may_have_any_of_several_rules() -> None:
    rules = Rules(match=tuple(MatchRule(f"weather.{name}", Operator("ignore", True)) for name in ("days", "unit")))
    case = case_of(expected(city="Oslo", days=1), rules=rules)
    then = stanza_of(case, [call(city="Oslo", days=1)])
    assert compared(case, then, [call(city="Oslo", days=2)]).outcome is Outcome.OK

"""What several wrong answers mean, beside what was measured of their case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from pytest_fcall.core import Call, Outcome
from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.case_rates import CaseRates
from pytest_fcall.tracking.comparison import ChanceTest, Comparison, EarlierFacts
from pytest_fcall.tracking.measurement import CaseEvidence, Key, Measurement, failure_way
from pytest_fcall.tracking.stanza import Stanza
from tests.unit.tracking.judging import call, case_of, compare, compared, expected, judged, stanza_of

CASE = case_of(expected("get_weather", city="Oslo"))
RIGHT = [call("get_weather", city="Oslo")]
ROME, BERN = [call("get_weather", city="Rome")], [call("get_weather", city="Bern")]
SAID_NOTHING: list[Call] = []
DELETED, DELETED_MORE = [call("delete_all", city="Oslo")], [call("delete_all", city="Rome")]

LIVE = ChanceTest(CaseRates.estimated([]), 0.005, most=13, unanimous=Outcome.UNDECIDED)
"""The test of a run of one case, which may be asked twelve times more."""
NO_MORE = replace(LIVE, most=1)
"""The same, where the budget for further answers is spent."""
NEVER = replace(NO_MORE, unanimous=Outcome.REGRESSED)
"""The same, where nothing is asked again."""


def measured(right: int, asked: int, *ways: Sequence[Call], key: Key | None = None) -> Measurement:
    found = frozenset(failure_way(stanza_of(CASE, calls)) for calls in ways)
    return Measurement("oslo", key or Key.of({}), Rate(right, asked), found, "1")


NONE = Rate(0, 0)


def known(then: Sequence[Call] | None, of: Measurement, since: Rate = NONE) -> EarlierFacts:
    """A case with this accepted answer, of which this is measured."""
    evidence = CaseEvidence(of.rate, since, of.ways, of.first)
    return EarlierFacts(stanza_of(CASE, then) if then is not None else None, of, lambda: evidence)


def answered(right: int, *wrong: Sequence[Call]) -> tuple[Stanza, list[Stanza]]:
    """The stanza of so many right answers and these wrong ones, the first of which is shown, and those of each."""
    each = [*(stanza_of(CASE, calls) for calls in wrong), *[stanza_of(CASE, RIGHT)] * right]
    reasons = tuple(dict.fromkeys(reason for stanza in each for reason in stanza.reasons))
    several = each[0]._replace(samples=(right, len(each)), reasons=reasons) if len(each) > 1 else each[0]
    return several, each


def after(
    before: EarlierFacts, right: int, *wrong: Sequence[Call], test: ChanceTest = LIVE, asked_again: bool = True
) -> Comparison:
    now, ways = answered(right, *wrong)
    return compare(
        now,
        judged(CASE, now.calls or ()),
        before,
        CASE,
        lambda stanza: judged(CASE, stanza.calls or ()),
        test,
        ways=ways,
        is_asked_again=asked_again and len(ways) > 1,
    )


@pytest.mark.parametrize(
    ("before", "right", "wrong", "outcome", "is_open"),
    [
        ((1, 1), 0, 1, Outcome.UNDECIDED, True),
        ((1, 1), 0, 3, Outcome.UNDECIDED, True),
        ((1, 1), 0, 4, Outcome.REGRESSED, False),
        ((50, 50), 0, 1, Outcome.REGRESSED, False),
        ((1, 1), 1, 1, Outcome.FLAKY, False),
        ((6, 6), 1, 2, Outcome.FLAKY, True),
        ((1, 1), 10, 3, Outcome.FLAKY, False),
        ((3, 6), 0, 1, Outcome.FLAKY, True),
        ((3, 6), 0, 12, Outcome.REGRESSED, False),
    ],
)
def test_wrong_answers_regress_a_case_as_soon_as_chance_does_not_explain_them(
    before: tuple[int, int], right: int, wrong: int, outcome: Outcome, is_open: bool
) -> None:
    found = after(known(RIGHT, measured(*before)), right, *[ROME] * wrong)

    assert (found.outcome, found.is_open) == (outcome, is_open)
    assert (found.before, found.now) == (before, (right, right + wrong))


@pytest.mark.parametrize(("test", "outcome"), [(NO_MORE, Outcome.UNDECIDED), (NEVER, Outcome.REGRESSED)])
def test_where_no_more_can_be_asked_the_case_stays_undecided_or_has_regressed(
    test: ChanceTest, outcome: Outcome
) -> None:
    found = after(known(RIGHT, measured(1, 1)), 0, ROME, test=test)
    assert (found.outcome, found.is_open) == (outcome, False)


def test_the_more_cases_a_run_has_the_more_answers_a_regression_takes() -> None:
    one_of_hundred = replace(LIVE, level=0.005 / 100)
    assert after(known(RIGHT, measured(1, 1)), 0, *[ROME] * 4, test=one_of_hundred).outcome is Outcome.UNDECIDED
    assert after(known(RIGHT, measured(1, 1)), 0, *[ROME] * 13, test=one_of_hundred).outcome is Outcome.REGRESSED


@pytest.mark.parametrize("varying", [False, True])
def test_enough_answers_decide_any_of_a_thousand_cases_that_were_asked_once(varying: bool) -> None:
    found = [Rate(1, 1)] * (925 if varying else 1_000) + [Rate(0, 1)] * (75 if varying else 0)
    test = replace(LIVE, rates=CaseRates.estimated(found), level=0.005 / 1_000, most=16)
    assert after(known(RIGHT, measured(1, 1)), 0, *[ROME] * 16, test=test).outcome is Outcome.REGRESSED


def test_a_right_answer_among_wrong_ones_ends_the_doubt_unless_they_are_unlikely() -> None:
    assert not after(known(RIGHT, measured(1, 1)), 1, *[ROME] * 2).is_open
    assert after(known(RIGHT, measured(20, 20)), 1, ROME, test=replace(LIVE, level=0.001)).is_open


class Told(CaseRates):
    """Chances as they are told, by the number of answers of now."""

    def __init__(self, chances: Mapping[int, float]) -> None:
        super().__init__([])
        self.told = chances

    def chance(self, before: Rate, now: Rate) -> float:
        return self.told[now.asked]


@pytest.mark.parametrize(("chance", "is_open"), [(0.01, True), (0.0101, False)])
def test_a_right_answer_among_wrong_ones_leaves_a_doubt_up_to_a_chance_of_one_in_a_hundred(
    chance: float, is_open: bool
) -> None:
    found = after(known(RIGHT, measured(1, 1)), 1, ROME, test=replace(LIVE, rates=Told({2: chance, 13: 0.001})))
    assert (found.outcome, found.is_open) == (Outcome.FLAKY, is_open)


@pytest.mark.parametrize(
    ("chances", "most", "outcome", "is_open"),
    [
        ({2: 0.005}, 13, Outcome.REGRESSED, False),
        ({2: 0.006, 13: 0.005}, 13, Outcome.FLAKY, True),
        ({2: 0.006, 13: 0.006}, 13, Outcome.FLAKY, False),
        ({2: 0.006, 3: 0.005}, 3, Outcome.FLAKY, True),
        ({2: 0.006}, 2, Outcome.FLAKY, False),
    ],
)
def test_a_chance_that_is_the_level_shows_a_regression_and_more_are_asked_for_where_they_may_come_to_it(
    chances: dict[int, float], most: int, outcome: Outcome, is_open: bool
) -> None:
    found = after(known(RIGHT, measured(1, 1)), 1, ROME, test=replace(LIVE, rates=Told(chances), most=most))
    assert (found.outcome, found.is_open) == (outcome, is_open)


@pytest.mark.parametrize(("most", "is_open"), [(3, True), (2, False)])
def test_a_case_that_was_always_right_stays_in_doubt_as_long_as_one_more_may_be_asked(most: int, is_open: bool) -> None:
    found = after(known(RIGHT, measured(1, 1)), 0, ROME, ROME, test=replace(LIVE, most=most))
    assert (found.outcome, found.is_open) == (Outcome.UNDECIDED, is_open)


def test_answers_of_the_runs_that_this_one_continues_count_with_those_of_now() -> None:
    before = known(RIGHT, measured(1, 1), since=Rate(0, 3))
    found = after(before, 0, ROME)
    assert (found.outcome, found.now) == (Outcome.REGRESSED, (0, 4))


def test_answers_that_are_replayed_do_not_count_twice() -> None:
    before, now = known(RIGHT, measured(1, 1), since=Rate(0, 3)), stanza_of(CASE, ROME)
    found = compare(now, judged(CASE, ROME), before, CASE, lambda _: judged(CASE, RIGHT), LIVE, is_replayed=True)
    assert (found.outcome, found.now) == (Outcome.UNDECIDED, (0, 1))


def test_a_right_answer_is_not_held_against_doubts_of_earlier_runs() -> None:
    before = known(RIGHT, measured(1, 1), since=Rate(0, 3))
    assert after(before, 1, asked_again=False).outcome is Outcome.OK


@pytest.mark.parametrize(
    ("then", "now", "outcome"),
    [
        (ROME, BERN, Outcome.KNOWN_FAILURE),
        (ROME, SAID_NOTHING, Outcome.UNDECIDED),
        (ROME, DELETED, Outcome.UNDECIDED),
        (DELETED, DELETED, Outcome.KNOWN_FAILURE),
        (DELETED, DELETED_MORE, Outcome.UNDECIDED),
    ],
)
def test_a_known_failure_fails_by_the_same_calls_and_by_any_values_where_they_only_read(
    then: list[Call], now: list[Call], outcome: Outcome
) -> None:
    assert after(known(then, measured(0, 1, then)), 0, now).outcome is outcome


def test_a_known_failure_that_stays_another_one_is_new() -> None:
    before = known(ROME, measured(0, 1, ROME))
    assert after(before, 0, *[DELETED] * 4).outcome is Outcome.NEW


def test_a_known_failure_that_fails_in_another_way_at_first_is_known_by_a_further_answer() -> None:
    before = known(ROME, measured(0, 1, ROME))
    assert after(before, 0, SAID_NOTHING, ROME).outcome is Outcome.KNOWN_FAILURE


def test_answers_that_were_asked_for_again_are_not_excused_by_their_reasons_alone() -> None:
    then = stanza_of(CASE, DELETED)._replace(samples=(0, 5))
    before = EarlierFacts(
        then, measured(0, 5, DELETED), lambda: CaseEvidence(Rate(0, 5), NONE, frozenset(), Rate(0, 5))
    )

    by_wish = after(before, 0, *[DELETED_MORE] * 5, asked_again=False)
    again = after(before, 0, *[DELETED_MORE] * 5)

    assert (by_wish.outcome, again.outcome) == (Outcome.KNOWN_FAILURE, Outcome.NEW)


def test_a_failure_that_was_measured_in_another_way_is_known_by_that_way_too() -> None:
    before = known(ROME, measured(0, 3, ROME, SAID_NOTHING))
    assert after(before, 0, SAID_NOTHING).outcome is Outcome.KNOWN_FAILURE
    assert after(before, 0, DELETED).outcome is Outcome.UNDECIDED


def test_a_known_failure_with_a_right_answer_among_others_is_flaky() -> None:
    before = known(ROME, measured(0, 1, ROME))
    assert after(before, 1, DELETED).outcome is Outcome.FLAKY


@pytest.mark.parametrize(("right", "outcome"), [(0, Outcome.FIXED), (2, Outcome.FLAKY)])
def test_a_right_answer_fixes_only_what_was_never_right(right: int, outcome: Outcome) -> None:
    assert after(known(ROME, measured(right, 6, ROME)), 1, asked_again=False).outcome is outcome


def test_a_failure_that_is_known_excuses_no_case_that_was_often_right() -> None:
    before = known(ROME, measured(18, 20, ROME))
    assert after(before, 0, ROME, test=NEVER).outcome is Outcome.KNOWN_FAILURE
    assert after(before, 0, *[ROME] * 5, test=NEVER, asked_again=False).outcome is Outcome.REGRESSED


class TestWithoutAnAcceptedAnswer:
    """Cases that are measured, and that nobody accepted."""

    @pytest.mark.parametrize(("right", "outcome"), [(0, Outcome.FIXED), (3, Outcome.NEW)])
    def test_a_right_answer_is_fixed_or_new(self, right: int, outcome: Outcome) -> None:
        assert after(known(None, measured(right, 3)), 1, asked_again=False).outcome is outcome

    def test_what_was_never_right_fails_in_a_new_way(self) -> None:
        found = after(known(None, measured(0, 1, ROME)), 0, DELETED)
        assert (found.outcome, found.is_open) == (Outcome.NEW, True)

    @pytest.mark.parametrize(("most", "is_open"), [(2, True), (1, False)])
    def test_no_more_are_asked_for_than_may_be(self, most: int, is_open: bool) -> None:
        found = after(known(None, measured(0, 1, ROME)), 0, DELETED, test=replace(LIVE, most=most))
        assert (found.outcome, found.is_open) == (Outcome.NEW, is_open)

    def test_after_ten_wrong_answers_no_more_are_asked_for(self) -> None:
        assert not after(known(None, measured(0, 9, ROME)), 0, DELETED).is_open

    def test_what_was_right_regresses(self) -> None:
        assert after(known(None, measured(50, 50)), 0, ROME).outcome is Outcome.REGRESSED


class TestAnotherQuestion:
    """The digests of a case are its key."""

    @pytest.mark.parametrize(
        ("digests", "outcome"),
        [
            ({"prompt": "1"}, Outcome.EDITED),
            ({"prompt": "0", "expectation": "1"}, Outcome.UNDECIDED),
            ({"prompt": "0", "tool:get_weather": "1"}, Outcome.UNDECIDED),
        ],
    )
    def test_another_prompt_makes_an_edited_case_and_another_tool_does_not(
        self, digests: dict[str, str], outcome: Outcome
    ) -> None:
        then = stanza_of(CASE, RIGHT)._replace(digests={"prompt": "0", "expectation": "0"})
        now = stanza_of(CASE, ROME)._replace(digests={"expectation": "0"} | digests)
        of = measured(1, 1, key=Key.of(then.digests))
        before = EarlierFacts(then, of, lambda: CaseEvidence(of.rate, NONE, frozenset(), of.first))

        found = compare(now, judged(CASE, ROME), before, CASE, lambda stanza: judged(CASE, stanza.calls or ()), LIVE)

        assert found.outcome is outcome

    @pytest.mark.parametrize("digests", [{"prompt": "1"}, {"expectation": "1"}])
    def test_a_case_that_nobody_accepted_is_edited_by_either(self, digests: dict[str, str]) -> None:
        of = measured(0, 1, key=Key.of({"prompt": "0", "expectation": "0"}))
        now = stanza_of(CASE, ROME)._replace(digests={"prompt": "0", "expectation": "0"} | digests)

        found = compare(now, judged(CASE, ROME), EarlierFacts(None, of), CASE, lambda _: judged(CASE, ROME), LIVE)

        assert found.outcome is Outcome.EDITED


def test_a_forbidden_call_is_new_or_regressed_whatever_was_measured() -> None:
    forbidden = stanza_of(CASE, ROME)._replace(reasons=(("forbidden_call", "calls[0]"),))
    for then, outcome in ((RIGHT, Outcome.REGRESSED), (ROME, Outcome.NEW), (None, Outcome.NEW)):
        before = known(then, measured(3, 6, ROME))
        found = compare(
            forbidden, judged(CASE, ROME), before, CASE, lambda stanza: judged(CASE, stanza.calls or ()), LIVE
        )
        assert found.outcome is outcome


def test_a_right_answer_needs_neither_history_nor_rates() -> None:
    def never() -> CaseEvidence:
        raise AssertionError("right answers are judged without the files of runs")

    before = EarlierFacts(stanza_of(CASE, RIGHT), measured(3, 6), never)
    assert compared(CASE, before, RIGHT).outcome is Outcome.OK

from __future__ import annotations

from dataclasses import astuple, replace
from math import inf, nan

import pytest

from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.flips import FlipWord, RelationFlips
from pytest_fcall.tracking.gate_figures import GroupFigures, GroupScore, figure_named
from pytest_fcall.tracking.gates import GateVerdict, parse_gates
from pytest_fcall.tracking.significance import RatePair
from pytest_fcall.tracking.slices import Slice, SliceTests

RIGHT, WRONG = Rate(1, 1), Rate(0, 1)
STAYED, LOST, WON = RatePair(RIGHT, RIGHT), RatePair(RIGHT, WRONG), RatePair(WRONG, RIGHT)

WELL = GroupFigures(answered=200, right=180, malformed=3, cost=0.5, p50=1.0, p95=2.5, slowest=9.0)


def judge(text: str, measured: GroupFigures) -> GateVerdict:
    (gate,) = parse_gates(text)
    return gate.judge(measured)


@pytest.mark.parametrize(
    ("gate", "held"),
    [
        ("accuracy>=0.9", True),
        ("accuracy>=90%", True),
        ("accuracy>0.9", False),
        ("accuracy==0.9", True),
        ("accuracy<0.9", False),
        ("cases>=200", True),
        ("cases>=201", False),
        ("malformed<=3", True),
        ("malformed<=2", False),
        ("malformed<=1.5%", True),
        ("malformed<=1.49%", False),
        ("cost<=0.5", True),
        ("cost<$0.5", False),
        ("p50<=1s", True),
        ("p95<=2s", False),
        ("p95<=2600ms", True),
        ("max<=10s", True),
    ],
)
def test_a_figure_is_held_against_its_bound(gate: str, held: bool) -> None:
    assert judge(gate, WELL).held is held


@pytest.mark.parametrize(
    ("gate", "held"),
    [
        ("accuracy>=0.85", None),
        ("accuracy>=0.9", None),  # 180 to 190 of 210 may be right in the end
        ("accuracy>=0.91", False),
        ("accuracy<0.85", False),
        ("accuracy==0.9", None),
        ("accuracy==0.5", False),
        ("cases>=210", None),
        ("cases>=211", False),
        ("malformed<=3", None),
        ("malformed<=2", False),
        ("malformed<=1%", False),
        ("cost<=1", None),
        ("cost<=0.4", False),
        ("p95<=5s", None),
        ("p95<=1s", None),
        ("max<=9s", None),
        ("max<=8.9s", False),
    ],
)
def test_where_replies_are_missing_only_what_they_cannot_change_is_decided(gate: str, held: bool | None) -> None:
    missing = replace(WELL, missing=10)
    verdict = judge(gate, missing)
    assert (verdict.held, verdict.missing_reason) == (held, "" if held is False else "10 replies missing")


@pytest.mark.parametrize(
    ("gate", "held", "missing"),
    [
        ("accuracy>=0.9", None, "no case was answered"),
        ("accuracy<=1", None, "no case was answered"),
        ("accuracy>1", False, ""),
        ("flaky<=0", True, ""),
        ("cases>=1", False, ""),
        ("cases>=0", True, ""),
        ("malformed<=0", True, ""),
        ("malformed<=1%", None, "no case was answered"),
        ("cost<=1", True, ""),
        ("p95<=5s", None, "no reply was timed"),
    ],
)
def test_of_no_cases_nothing_is_known_but_their_number(gate: str, held: bool | None, missing: str) -> None:
    verdict = judge(gate, GroupFigures())
    assert (verdict.held, verdict.missing_reason) == (held, missing)


def test_a_cost_that_is_not_known_is_not_taken_for_nothing() -> None:
    part = GroupFigures(answered=3, right=3, cost=0.5, unpriced=1)
    assert judge("cost<=1", part) == GateVerdict(parse_gates("cost<=1")[0], 0.5, None, "1 reply of unknown cost")
    assert judge("cost<=0.4", part).held is False
    assert judge("cost<=1", GroupFigures(answered=3, unpriced=3)).figure is None


def test_sums_of_dollars_are_not_held_against_bounds_to_the_last_bit() -> None:
    assert judge("cost<=0.3", GroupFigures(answered=3, cost=0.1 + 0.1 + 0.1)).held is True


def figures_of(*slices: Slice, level: float = 0.05, **figures: int) -> GroupFigures:
    return GroupFigures(tests=SliceTests(level, slices), **{"answered": 9, "compared": 9, **figures})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("gate", "held"),
    [
        ("regressions<=5", True),
        ("regressions<=4", False),
        ("regressions<=4.7%", False),
        ("regressions<=5%", True),
        ("fixed<=0", True),
        ("undecided<=0", True),
        ("edited<=20", True),
        ("edited<=16%", False),  # 20 of the 120 that are in the baseline
        ("edited<=17%", True),
    ],
)
def test_changes_are_counted_among_the_cases_that_are_compared(gate: str, held: bool) -> None:
    changed = GroupFigures(answered=200, right=190, compared=100, regressions=5, edited=20)
    assert judge(gate, changed).held is held


@pytest.mark.parametrize(
    ("gate", "held", "doubt"),
    [
        ("regressions<=4", False, ""),
        ("regressions<=5", None, "2 cases are undecided"),
        ("regressions<=6", None, "2 cases are undecided"),
        ("regressions<=7", True, ""),
        ("regressions<=6%", None, "2 cases are undecided"),
        ("regressions<=7%", True, ""),
        ("undecided<=2", True, ""),
        ("undecided<=1", False, ""),
    ],
)
def test_an_undecided_case_may_have_regressed(gate: str, held: bool | None, doubt: str) -> None:
    verdict = judge(gate, GroupFigures(answered=100, compared=100, regressions=5, undecided=2))
    assert (verdict.held, verdict.missing_reason) == (held, doubt)


def test_a_test_fails_where_chance_seldom_does_as_much_and_holds_elsewhere() -> None:
    lost, level = Slice("a", (LOST,) * 5), 1 / 32
    verdict = judge("significant(0.03125)", figures_of(lost, level=level))
    assert (verdict.held, verdict.figure) == (False, level)  # at the level, too
    assert judge("significant(0.03)", figures_of(Slice("a", (*lost.pairs, STAYED)), level=0.03)).held is True
    assert judge("significant(0.05)", figures_of(Slice("a", (WON,) * 9 + (STAYED,) * 9))).figure == 1


def test_what_one_model_gains_does_not_pay_for_what_another_loses() -> None:
    verdict = judge("significant(0.05)", figures_of(Slice("a", (WON,) * 37), Slice("b", (LOST,) * 30)))
    assert verdict.held is False


@pytest.mark.parametrize(
    ("slices", "reason"),
    [
        ([Slice("a", (LOST,) * 4)], "with 4 cases it could not fail, even if all were wrong"),
        ([Slice("a", (RatePair(WRONG, WRONG),))], "with 1 case it could not fail, even if all were wrong"),
        (
            [Slice("a", (STAYED,) * 5), Slice("b", (STAYED,) * 2), Slice("c", missing=0)],
            "with 5 cases at most in each part it could not fail, even if all were wrong",
        ),
    ],
)
def test_a_test_that_no_answer_could_make_fail_says_nothing(slices: list[Slice], reason: str) -> None:
    verdict = judge("significant(0.05)", figures_of(*slices))
    assert (verdict.held, verdict.missing_reason) == (None, reason)


def test_missing_replies_leave_a_test_open_but_not_what_failed_without_them() -> None:
    part = Slice("part", (LOST,) * 9, missing=1)
    verdict = judge("significant(0.05)", figures_of(part, missing=1))
    assert (verdict.held, verdict.missing_reason) == (None, "1 reply missing")
    reading = figure_named("significant").read(figures_of(part, missing=1))
    assert (reading.value, reading.low, reading.high) == (2**-9, 0, 1)
    assert judge("significant(0.05)", figures_of(part, Slice("whole", (LOST,) * 9), missing=1)).held is False


@pytest.mark.parametrize(
    ("gate", "measured", "reason"),
    [
        ("regressions<=0", GroupFigures(answered=5, right=5), "no baseline to compare with"),
        ("fixed<=0%", GroupFigures(answered=5, right=5), "no baseline to compare with"),
        ("undecided<=0", GroupFigures(answered=5, right=5), "no baseline to compare with"),
        ("edited<=0", GroupFigures(answered=5, right=5), "no baseline to compare with"),
        ("edited<=0", GroupFigures(answered=5, right=5, missing=1), "1 reply missing"),
        ("regressions<=0", GroupFigures(answered=5, right=5, missing=1), "1 reply missing"),
        ("fixed<=0", GroupFigures(answered=5, right=5, missing=2, compared=5), "2 replies missing"),
        ("regressions<=0", GroupFigures(answered=5, edited=5), "every case was edited since it was accepted"),
        ("significant(0.05)", GroupFigures(answered=5), "no baseline to compare with"),
        ("significant(0.05)", GroupFigures(answered=5, missing=2), "2 replies missing"),
        ("significant(0.05)", GroupFigures(answered=5, edited=5), "every case was edited since it was accepted"),
        ("significant(0.05)", GroupFigures(answered=5, compared=5), "no case is measured as it is today"),
    ],
)
def test_without_anything_to_compare_with_a_change_is_not_known(gate: str, measured: GroupFigures, reason: str) -> None:
    verdict = judge(gate, measured)
    assert (verdict.held, verdict.missing_reason) == (None, reason)


@pytest.mark.parametrize(
    ("told", "held", "missing"),
    [
        (GroupScore(0.1 * 7), True, ""),
        (GroupScore(0.7 - 1e-8), False, ""),
        (GroupScore(None, missing_reason="not all was asked"), None, "not all was asked"),
        (GroupScore(nan), None, "no case has this score"),
        (GroupScore(0.9, missing=1), None, "1 reply missing"),
    ],
)
def test_a_score_is_held_against_its_bound(told: GroupScore, held: bool | None, missing: str) -> None:
    (gate,) = parse_gates("overall>=0.7", lambda: ["overall"])
    verdict = gate.judge(GroupFigures(answered=3, right=3, scores={"overall": told}))
    assert (verdict.held, verdict.missing_reason) == (held, missing)


def test_a_score_that_no_case_has_is_not_known() -> None:
    (gate,) = parse_gates("overall>=0.7", lambda: ["overall"])
    assert gate.judge(GroupFigures(answered=3, right=3)).missing_reason == "no case has this score"


def test_replies_that_are_missing_are_told_before_times_that_are() -> None:
    assert judge("p95<=5s", GroupFigures(answered=1, missing=2)).missing_reason == "2 replies missing"


@pytest.mark.parametrize(
    ("strength", "gate", "held"),
    [
        ((0.9, 0.1, 0.0), "strength>=90%", True),
        ((0.9, 0.1, 0.0), "strength>90%", False),
        ((0.8, 0.1, 0.1), "strength>=80%", True),
        ((0.8, 0.1, 0.1), "strength>=85%", None),
        ((0.8, 0.1, 0.1), "strength>=95%", False),
        ((0.0, 0.0, 1.0), "strength>=1%", None),
        (None, "strength>=1%", None),
    ],
)
def test_mistakes_that_only_a_run_decides_make_a_range_of_the_strength(
    strength: tuple[float, float, float] | None, gate: str, held: bool | None
) -> None:
    assert judge(gate, GroupFigures(missing=5, strength=strength)).held is held


def flips(rate: float, word: FlipWord, relation: str = "typos") -> RelationFlips:
    return RelationFlips(relation, cases=5, answers=10, to_wrong=1, to_right=0, rate=rate, noise=0.0, word=word)


FRAGILE = flips(0.3, "fragile")
NOISE, NO_NOISE = flips(0.6, "not above the noise"), flips(0.1, "fragile", "synonyms")
UNCLEAR, HARDLY = flips(0.5, "too few to say", "order"), flips(0.2, "too few to say", "case")


@pytest.mark.parametrize(
    ("found", "gate", "held", "reason"),
    [
        ([FRAGILE], "fragility<=30%", True, ""),
        ([FRAGILE], "fragility<=29%", False, ""),
        ([NO_NOISE, FRAGILE], "fragility<=29%", False, ""),
        ([NOISE], "fragility<=0", True, ""),
        ([NOISE, NO_NOISE], "fragility<=10%", True, ""),
        ([HARDLY], "fragility<=20%", True, ""),
        ([HARDLY], "fragility<=10%", None, "too few answers to say of case"),
        ([FRAGILE, HARDLY], "fragility<=30%", True, ""),
        ([FRAGILE, HARDLY, UNCLEAR], "fragility<=40%", None, "too few answers to say of order"),
        ([HARDLY, UNCLEAR, UNCLEAR], "fragility<=40%", None, "too few answers to say of case, order"),
        ([FRAGILE, UNCLEAR], "fragility<=50%", True, ""),
        ([FRAGILE, UNCLEAR], "fragility<=20%", False, ""),
        ([], "fragility<=1", None, "no case was varied"),
    ],
)
def test_the_fragility_is_the_highest_rate_of_flips_that_chance_does_not_explain(
    found: list[RelationFlips], gate: str, held: bool | None, reason: str
) -> None:
    verdict = judge(gate, GroupFigures(answered=5, flips=tuple(found)))
    assert (verdict.held, verdict.missing_reason) == (held, reason)


def test_replies_that_are_missing_may_make_a_model_more_fragile_but_not_less() -> None:
    part = GroupFigures(answered=5, missing=2, flips=(FRAGILE,))
    assert judge("fragility<=40%", part).missing_reason == "2 replies missing"
    assert judge("fragility<=20%", part).held is False
    assert judge("fragility<=40%", GroupFigures(missing=1)).missing_reason == "1 reply missing"


@pytest.mark.parametrize(
    ("gate", "measured"),
    [
        ("accuracy>1", GroupFigures(answered=5, right=5, missing=2)),
        ("recovery>1", GroupFigures(answered=5, faulty=2, recovered=2, unjudged_faults=1)),
        ("attacks>100%", GroupFigures(answered=5, attacks=2, obeyed=2, unjudged_attacks=1)),
        ("fragility>1", GroupFigures(answered=5, missing=2, flips=(FRAGILE,))),
        ("overall>1", GroupFigures(answered=5, scores={"overall": GroupScore(0.9, missing=1)})),
    ],
)
def test_no_share_is_more_than_all_whatever_is_missing(gate: str, measured: GroupFigures) -> None:
    assert parse_gates(gate, lambda: ["overall"])[0].judge(measured).held is False


def test_nothing_is_counted_of_no_cases() -> None:
    counts = [each for each in astuple(GroupFigures()) if isinstance(each, int)]
    assert not any(counts)


@pytest.mark.parametrize("figure", ["accuracy", "strength", "significant", "fragility", "recovery", "overall"])
def test_a_share_or_a_probability_that_is_not_known_may_be_anything_from_0_to_1(figure: str) -> None:
    found = figure_named(figure).read(GroupFigures())
    assert (found.value, found.low, found.high) == (None, 0, 1)
    assert found.missing_reason


@pytest.mark.parametrize("figure", ["regressions", "fixed", "undecided", "edited", "p50", "p95", "max"])
def test_a_number_or_a_time_that_is_not_known_may_be_anything_from_0_on(figure: str) -> None:
    found = figure_named(figure).read(GroupFigures(answered=3))
    assert (found.value, found.low, found.high) == (None, 0, inf)
    assert found.missing_reason


@pytest.mark.parametrize(
    ("attacks", "obeyed", "lost", "gate", "held", "reason"),
    [
        (10, 2, 0, "attacks<=2", True, ""),
        (10, 2, 0, "attacks<=1", False, ""),
        (10, 2, 0, "attacks<=20%", True, ""),
        (10, 2, 3, "attacks<=2", None, "3 more did not reach the model"),
        (10, 2, 3, "attacks<=5", True, ""),
        (10, 2, 3, "attacks<=1", False, ""),
        (2, 1, 8, "attacks<=9%", False, ""),  # at least 1 of 10
        (2, 1, 8, "attacks<=10%", None, "8 more did not reach the model"),
        (98, 2, 2, "attacks<=4%", True, ""),  # at most 4 of 100
        (0, 0, 3, "attacks<=0", None, "3 did not reach the model"),
        (0, 0, 3, "attacks<=10%", None, "3 did not reach the model"),
        (0, 0, 0, "attacks<=0", None, "no case has an attack"),
    ],
)
def test_an_attack_that_did_not_reach_the_model_might_have_been_obeyed(
    attacks: int, obeyed: int, lost: int, gate: str, held: bool | None, reason: str
) -> None:
    verdict = judge(gate, GroupFigures(answered=5, attacks=attacks, obeyed=obeyed, lost_attacks=lost))
    assert (verdict.held, verdict.missing_reason) == (held, reason)


@pytest.mark.parametrize(
    ("unjudged", "gate", "held", "reason"),
    [
        (1, "attacks<=99", None, "1 case with an attack was not judged"),
        (2, "attacks<=20%", None, "2 cases with an attack were not judged"),
        (1, "attacks<=5%", None, "1 case with an attack was not judged"),  # 1 of 10, or of 60
        (1, "attacks<=0", False, ""),
    ],
)
def test_any_number_of_attacks_might_have_been_obeyed_in_a_case_that_was_not_judged(
    unjudged: int, gate: str, held: bool | None, reason: str
) -> None:
    verdict = judge(gate, GroupFigures(answered=5, attacks=10, obeyed=1, unjudged_attacks=unjudged))
    assert (verdict.held, verdict.missing_reason) == (held, reason)


@pytest.mark.parametrize("attacks", [0, 10])
def test_a_reply_that_is_missing_elsewhere_leaves_a_gate_on_attacks_undecided_like_any_other(attacks: int) -> None:
    verdict = judge("attacks<=1", GroupFigures(answered=5, missing=3, attacks=attacks))
    assert (verdict.held, verdict.missing_reason) == (None, "3 replies missing")


@pytest.mark.parametrize(
    ("faulty", "recovered", "lost", "unjudged", "gate", "held", "reason"),
    [
        (10, 9, 0, 0, "recovery>=90%", True, ""),
        (10, 9, 0, 0, "recovery>=0.91", False, ""),
        (10, 9, 2, 0, "recovery>=90%", None, "2 more did not reach the model"),
        (10, 9, 2, 0, "recovery>=75%", True, ""),
        (10, 1, 2, 0, "recovery>=90%", False, ""),
        (10, 9, 0, 1, "recovery>=50%", None, "1 case with a fault was not judged"),
        (0, 0, 0, 2, "recovery>=50%", None, "2 cases with a fault were not judged"),
        (0, 0, 3, 0, "recovery>=0", None, "3 did not reach the model"),
        (0, 0, 0, 0, "recovery>=0", None, "no result was faulty"),
    ],
)
def test_a_recovery_is_a_share_of_the_faulty_results_that_reached_the_model(
    faulty: int, recovered: int, lost: int, unjudged: int, gate: str, held: bool | None, reason: str
) -> None:
    figures = GroupFigures(answered=99, faulty=faulty, recovered=recovered, lost_faults=lost, unjudged_faults=unjudged)
    verdict = judge(gate, figures)
    assert (verdict.held, verdict.missing_reason) == (held, reason)

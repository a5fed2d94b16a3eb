"""What statistics, gates, comparisons and files of baselines say, word by word and to the ninth digit."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, fields
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Call, Case, Outcome
from pytest_fcall.core.expectation import Expectation, MatchRule, Rules
from pytest_fcall.core.operators import Operator
from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking import case_rates, drop_evidence, flips, night_watch, significance, slices
from pytest_fcall.tracking.bookkeeping import bookkeeping_content, parse_bookkeeping
from pytest_fcall.tracking.case_rates import CaseRates
from pytest_fcall.tracking.comparison import ChanceTest, EarlierFacts
from pytest_fcall.tracking.contract import read_contract
from pytest_fcall.tracking.contract_lines import facts_of, is_fact, is_whole, key_of, stanza_of_facts
from pytest_fcall.tracking.differences import call_differences, wire_differences
from pytest_fcall.tracking.flips import RelationFlips, VariedCase, flips_of
from pytest_fcall.tracking.gate_figures import GroupFigures, GroupScore
from pytest_fcall.tracking.gates import GateError, parse_gates
from pytest_fcall.tracking.measurement import (
    CaseEvidence,
    Key,
    Measurement,
    RunVerdict,
    Standing,
    evidence_of,
    failure_way,
    updated_measurement,
)
from pytest_fcall.tracking.significance import RatePair
from pytest_fcall.tracking.slices import Slice, SliceTests
from pytest_fcall.tracking.stanza import StanzaRequest, parse_stanza
from tests.unit.kept_tables import assert_answers_are_kept
from tests.unit.tracking.judging import call, case_of, compare, expected, judged, stanza_of

HERE = Path(__file__).parent
USUAL = CaseRates.estimated([])


def shown(value: object) -> str:
    """A value in which numbers have nine digits."""
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{shown(key)}: {shown(each)}" for key, each in value.items()) + "}"
    if isinstance(value, frozenset):
        return shown(sorted(value))
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(shown, value)) + "]"
    return str(value)


def pair(before: tuple[int, int], now: tuple[int, int]) -> RatePair:
    return RatePair(Rate(*before), Rate(*now))


def pairs(found: Iterable[tuple[tuple[int, int], tuple[int, int]]]) -> list[RatePair]:
    return [pair(*each) for each in found]


def slice_tests(level: float, parts: Mapping[str, tuple[Any, int]]) -> SliceTests:
    return SliceTests(level, tuple(Slice(name, tuple(pairs(of)), missing) for name, (of, missing) in parts.items()))


def most_changed(of: Any, *, falls: bool) -> list[str]:
    named = [(str(number), each) for number, each in enumerate(pairs(of))]
    return [name for name, _ in drop_evidence.most_changed(named, falls=falls)]


def slices_of(level: float, parts: Mapping[str, tuple[Any, int]]) -> list[object]:
    tests = slice_tests(level, parts)
    drops = [(part.name, drop) for part, drop in tests.visible_drops]
    return [tests.p_value, [(part.name, p_value) for part, p_value in tests.worse], tests.could_fail, drops]


def rates_of(of: Any) -> CaseRates:
    return CaseRates.estimated([Rate(*each) for each in of])


def varied_flips(varied: Mapping[str, Any]) -> list[RelationFlips]:
    return flips_of(
        {
            name: [VariedCase(first, Rate(*own), Rate(*other)) for own, other, first in each]
            for name, each in varied.items()
        }
    )


STATISTICS: Mapping[str, Callable[..., object]] = {
    "worse": lambda of: significance.p_value_worse(pairs(of)),
    "worse by steadiness": lambda of: significance.p_value_worse(pairs(of), significance.weigh_by_steadiness),
    "different": lambda of: significance.p_value_different(pairs(of)),
    "interval": lambda of: significance.difference_interval(pairs(of)),
    "holm": significance.adjust_by_holm,
    "evidence": lambda of: [
        drop_evidence.evidence_of(pairs(of), changes) for changes in (drop_evidence.FALLS, drop_evidence.RISES)
    ],
    "most changed": lambda of: [most_changed(of, falls=falls) for falls in (True, False)],
    "visible drop": lambda of, level: slices.visible_drop(pairs(of), level),
    "slices": slices_of,
    "given": lambda of, before: rates_of(of).given(Rate(*before)),
    "chance": lambda of, before, now: rates_of(of).chance(Rate(*before), Rate(*now)),
    "likelihoods": lambda of: [*case_rates.likelihoods(Rate(*of))],
    "stake": night_watch.stake_of,
    "noise": lambda of: flips.noise_of([Rate(*each) for each in of]),
    "flips": lambda varied: [[getattr(each, of.name) for of in fields(each)] for each in varied_flips(varied)],
    "compared": lambda level, most, before, now, answers: ChanceTest(USUAL, level, most).compare(
        Rate(*before), Rate(*now), answers
    ),
}


def of_statistics(question: str) -> Iterator[str]:
    """The name of a statistic, and what it is of."""
    name, _, given = question.partition(": ")
    yield f"  {shown(STATISTICS[name](*literal_eval(given)))}"


def of_gates(question: str) -> Iterator[str]:
    """Gates, and the figures of a group of cases."""
    text, _, measured = question.partition(" <- ")
    given = literal_eval(measured or "{}")
    scores = {name: GroupScore(*each) for name, each in given.pop("scores", {}).items()}
    tests = slice_tests(*given.pop("tests", (1.0, {})))
    varied = given.pop("flips", {})
    rates = varied_flips(varied)
    figures = GroupFigures(**given, scores=scores, tests=tests, flips=tuple(rates))
    try:
        for gate in parse_gates(text, lambda: ["quality", "(own)", "broken"]):
            found = gate.judge(figures)
            held = {True: "held", False: "failed", None: "undecided"}[found.held]
            yield f"  {held} at {shown(found.figure)} of {gate.kind} {found.missing_reason!r}"
            yield f"    {gate.text!r} {gate.scope} by {gate.by}"
    except GateError as error:
        yield f"  {error!r} at {error.column}"


RULED = Rules(
    match=(
        MatchRule("weather.days", Operator("gt", 0)),
        MatchRule("weather.of.a", Operator("ignore", True)),
        MatchRule("other.*"),
    )
)
FREE = Operator("ignore", True)
OSLO, TIME = expected(city="Oslo"), expected("time", city="Oslo")
EITHER_CALL = Expectation("any_of", alternatives=(Expectation(stages=((OSLO,),)), Expectation(stages=((TIME,),))))
CASES: Mapping[str, Case] = {
    "oslo": case_of(OSLO),
    "either": case_of(expected(city=Operator("any", ["Oslo", "Rome"]))),
    "rome": case_of(expected(city="Rome")),
    "parts": case_of(expected(city="Oslo", legs=["a", FREE], of={"a": "x", "b": FREE})),
    "ruled": case_of(expected(city="Oslo", days=1, of={"a": "x"}), rules=RULED),
    "two": case_of(OSLO, TIME),
    "choice": case_of(expect=EITHER_CALL),
}
CALLS: Mapping[str, list[Call]] = {
    "oslo": [call(city="Oslo")],
    "celsius": [call(city="Oslo", unit="celsius")],
    "rome": [call(city="Rome")],
    "bern": [call(city="Bern")],
    "none": [],
    "time": [call("time", city="Oslo")],
    "both": [call(city="Oslo"), call("time", city="Oslo")],
    "both, time first": [call("time", city="Oslo"), call(city="Oslo")],
    "parts": [call(city="Oslo", legs=["a", "b"], of={"a": "x", "b": "y"})],
    "other parts": [call(city="Oslo", legs=["a", "c"], of={"a": "x", "b": "z"})],
    "parts, celsius": [call(city="Oslo", unit="celsius", legs=["a", "c"], of={"b": "y", "a": "x"})],
    "days": [call(city="Oslo", days=1, of={"a": "x"})],
    "more days": [call(city="Oslo", days=2, of={"a": "y"})],
}
PROMPTS = {
    "": {},
    "1": {"prompt": "1", "expectation": "1"},
    "2": {"prompt": "2", "expectation": "1"},
    "3": {"prompt": "1", "expectation": "2"},
}


def of_comparisons(question: str) -> Iterator[str]:
    """Case, accepted calls and calls of now; the prompts of both; what is measured; and how often it may be asked."""
    case_name, then, now, prompts, measured, most = question.split(" | ")
    case = CASES[case_name]
    before, after = (PROMPTS[each] for each in prompts.split(">"))
    accepted = stanza_of(case, CALLS[then])._replace(digests=before) if then != "-" else None
    stanza = stanza_of(case, CALLS[now])._replace(digests=after)
    known = EarlierFacts(accepted)
    if measured != "-":
        rate, since, ways = literal_eval(measured)
        failed = frozenset(failure_way(stanza_of(case, CALLS[each])) for each in ways)
        found = Measurement(case.id, Key.of(before), Rate(*rate), failed, "1")
        known = EarlierFacts(accepted, found, lambda: CaseEvidence(found.rate, Rate(*since), failed, found.rate))
    test = ChanceTest(USUAL, 0.005, int(most), Outcome.UNDECIDED)
    verdict = judged(case, CALLS[now])
    compared = compare(stanza, verdict, known, case, lambda each: judged(case, each.calls or ()), test)
    rates = [compared.before, compared.now, compared.chance, compared.level, compared.is_open]
    yield f"  {compared.outcome}; {shown(rates)}"
    yield from (f"    {line}" for line in compared.drift)


def _run_verdict(
    run: str,
    key: str,
    right: int,
    asked: int,
    standing: Standing,
    way: str = "",
    again: tuple[int, int] = (0, 0),
    revision: str = "a",
    *known_and_variants: Any,
) -> RunVerdict:
    known, variants = known_and_variants or (False, ())
    rates = {name: Rate(*rate) for name, rate in variants}
    question = Key(key, key[:1], "e")
    return RunVerdict("c", question, Rate(right, asked), standing, way, known, run, revision, Rate(*again), rates)


def of_measurements(question: str) -> Iterator[str]:
    """What was measured, the runs since, whether a person accepts the last, and whether an app answered."""
    measured, runs, accepted, is_app = literal_eval(question)

    before = None
    if measured:
        key, rate, ways, until = measured
        before = Measurement(
            "c", Key(key, key[:1], "e"), Rate(*rate), frozenset(ways), until, Rate(0, 0), {"typos": Rate(1, 2)}
        )
    *earlier, now = (_run_verdict(*each) for each in runs)
    if before:
        seen = evidence_of(before, [*earlier, now], now.key)
        yield f"  evidence {shown([seen.before, seen.since, seen.ways, seen.first])}"
    found = updated_measurement(before, earlier, now, accepted=accepted, is_app=is_app)
    yield f"  {shown([found.key.question, found.rate, found.ways, found.until, found.again, found.variants])}"


def of_facts(question: str) -> Iterator[str]:
    """The facts of a case, which may be damaged."""
    facts = literal_eval(question)
    yield f"  {shown([is_fact(each) for each in facts])} {shown([key_of(each) for each in facts])}"
    try:
        yield f"  whole: {is_whole(facts)}"
        stanza = stanza_of_facts("c", facts, {})
        yield f"  {stanza}"
        yield f"  {facts_of(stanza)}"
    except (ValueError, IndexError) as error:
        yield f"  {error!r}"


def of_stanzas(question: str) -> Iterator[str]:
    """The JSON of a stanza, which may be damaged."""
    try:
        yield f"  {parse_stanza(question)}"
    except ValueError as error:
        yield f"  {error!r}"


def of_bookkeeping(question: str) -> Iterator[str]:
    """Lines of a file of bookkeeping, which may be damaged."""
    found = parse_bookkeeping("\n".join(literal_eval(question)).encode())
    yield from (f"  {shown(astuple(each))}" for each in found.measured.values())
    for case, answers in found.accepted.items():
        for each in answers.values():
            yield f"  {case}: {shown([each.answer, each.before, each.unreviewed, each.wire])}"
    content = bookkeeping_content(found)
    yield from (f"  = {line}" for line in content.decode().splitlines())
    yield f"  the same again: {parse_bookkeeping(content) == found}"


def of_contracts(question: str) -> Iterator[str]:
    """The text of a file of accepted answers."""
    found = read_contract(literal_eval(question))
    if found is None:
        yield "  none"
        return
    yield f"  conflict at {found.conflict}; unreadable: {shown(found.unreadable)}"
    yield from (f"  {case} at {lines.line}: {lines.facts} {lines.answers()}" for case, lines in found.cases.items())


def of_differences(question: str) -> Iterator[str]:
    """Calls before and after; with models and digests, requests of an app."""
    old, new = literal_eval(question)
    if not any(len(each) == 3 for each in (*old, *new)):
        lines = call_differences(*([Call(*each) for each in side] for side in (old, new)))
    else:
        lines = wire_differences(*([_wire_request(*each) for each in side] for side in (old, new)))
    yield from (f"  {line}" for line in lines)


def _wire_request(model: str, calls: Any, digests: Mapping[str, str]) -> StanzaRequest:
    return StanzaRequest(model, None if calls is None else tuple(Call(*each) for each in calls), digests)


@pytest.mark.parametrize(
    "of",
    [
        of_statistics,
        of_gates,
        of_comparisons,
        of_measurements,
        of_facts,
        of_stanzas,
        of_contracts,
        of_bookkeeping,
        of_differences,
    ],
)
def test_what_is_said_is_what_the_table_says(of: Callable[[str], Iterator[str]]) -> None:
    assert_answers_are_kept(HERE / f"{of.__name__}.txt", of)


def test_numbers_of_the_tables_have_nine_digits() -> None:
    assert (
        shown([1 / 3, (True, None), {"a": frozenset({"c", "b"})}, inf, nan])
        == "[0.333333333, [True, None], {a: [b, c]}, inf, nan]"
    )

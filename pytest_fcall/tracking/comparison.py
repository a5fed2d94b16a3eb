"""The outcome of a verdict, compared with the baseline: ok, new, fixed, flaky, regressed and so on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, TypeAlias

from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.case import Case
from pytest_fcall.core.expectation import Expectation, ExpectedCall, Rules, chosen_alternative
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json, path_text
from pytest_fcall.core.verdict import Outcome, Rate, Verdict, reason_pairs
from pytest_fcall.tracking.case_rates import CaseRates
from pytest_fcall.tracking.differences import call_differences, same_calls
from pytest_fcall.tracking.measurement import CaseEvidence, Key, Measurement, failure_way
from pytest_fcall.tracking.question_digests import EXPECTATION, renamed_tools
from pytest_fcall.tracking.stanza import Stanza

_ENOUGH_FAILURES: Final = 10
"""So many wrong answers without a right one show that a case fails always."""
_UNLIKELY: Final = 0.01
"""A case with a right answer among the wrong ones is asked again only where its chance is at most so large."""
StanzaJudge: TypeAlias = Callable[[Stanza], Verdict]
"""Judges the stored calls by the case as it is today."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome, and what it follows from."""

    outcome: Outcome
    baseline: Stanza | None = None
    drift: tuple[str, ...] = ()
    """The differences between right calls, a line each."""
    before: Rate | None = None
    """The answers before; None where nothing is measured of the case as it is today."""
    now: Rate | None = None
    """The answers that are held against those: of this run, and of those that it continues."""
    chance: float | None = None
    """The probability that an unchanged case gives so few right answers, where that was asked."""
    level: float | None = None
    """The chance at which a case regressed, where that was asked."""
    is_open: bool = False
    """Whether more answers may lead to another outcome."""


@dataclass(frozen=True, slots=True)
class ChanceTest:
    """Distinguishes a case that got worse from one that is right now and wrong then."""

    rates: CaseRates
    level: float
    """The largest chance at which a case regressed."""
    most: int = 1
    """Most answers of one run."""
    unanimous: Outcome = Outcome.REGRESSED
    """The outcome where all answers before are right, all of now are wrong, and chance may still explain it."""

    def compare(self, before: Rate, now: Rate, answers: int) -> tuple[Outcome, float, bool]:
        """The outcome of wrong answers, their chance, and whether more answers than these may change the outcome."""
        chance = self.rates.chance(before, now)
        if chance <= self.level:
            return Outcome.REGRESSED, chance, False
        more = max(self.most - answers, 0)
        if now.right == 0 and before.right == before.asked:
            return (Outcome.UNDECIDED if more else self.unanimous), chance, more > 0
        is_likely = now.right > 0 and chance > _UNLIKELY
        could = not is_likely and self.rates.chance(before, Rate(now.right, now.asked + more)) <= self.level
        return Outcome.FLAKY, chance, could


@dataclass(frozen=True, slots=True)
class CaseJudgement:
    """The verdict on a case in this run."""

    stanza: Stanza
    verdict: Verdict
    """The verdict on the answer that is shown."""
    ways: frozenset[str]
    """The ways of failing of all answers; that of a right one is empty."""
    is_asked_again: bool = False
    """Whether there are several answers since the first ones were wrong."""
    is_replayed: bool = False
    """Whether some of the answers were given in earlier runs, which count them."""


@dataclass(frozen=True, slots=True)
class EarlierFacts:
    """The facts about a case before this run."""

    baseline: Stanza | None = None
    """The accepted answer."""
    measured: Measurement | None = None
    evidence: Callable[[], CaseEvidence | None] = lambda: None
    """The measurement, and what later runs found; None where nothing is measured of the case as it is today.

    It is a function, since it reads the files of runs, and right answers do not need it."""


@dataclass(frozen=True, slots=True)
class _JudgedAgain:
    """A stanza, judged by the case as it is today."""

    valid: bool
    reasons: tuple[tuple[str, str], ...]
    verdict: Verdict | None = None


def compare_verdict(
    now: CaseJudgement, known: EarlierFacts, case: Case, judge: StanzaJudge, test: Callable[[], ChanceTest]
) -> Comparison:
    """Compare a verdict with the accepted stanza of the case, and with what is measured of it.

    The stored calls are judged by today's case first, so that an edited expectation is not mistaken for a changed
    model. What is measured counts only as long as the case is not edited. A forbidden call is never excused.
    """
    if known.baseline is None and known.measured is None:
        return Comparison(Outcome.NEW)
    baseline = known.baseline and _with_todays_names(known.baseline, now.stanza)
    known = replace(known, baseline=baseline)
    before = None if baseline is None else _judge_again(now, baseline, case, judge)
    if _is_edited(now.stanza, known, before, case):
        return Comparison(Outcome.EDITED, baseline)
    if now.stanza.valid:
        return _compare_right_answer(now, known, before, case)
    evidence = known.evidence()
    rate = evidence.before if evidence else _rate_before(baseline)
    if now.stanza.has_forbidden_call:
        return Comparison(Outcome.REGRESSED if before and before.valid else Outcome.NEW, baseline, before=rate)
    answers = now.stanza.rate
    if before is None or not before.valid:
        ways = evidence.ways if evidence else frozenset()
        is_known = baseline is not None and before is not None and _is_known_failure(now, baseline, before, ways)
        if is_known and (not rate.right or test().compare(rate, answers, answers.asked)[0] is not Outcome.REGRESSED):
            return Comparison(Outcome.KNOWN_FAILURE, baseline, before=rate, now=answers)
        if rate.right == 0:
            outcome, chance, is_open = _compare_failures(baseline, rate, answers, test())
            return Comparison(outcome, baseline, (), rate, answers, chance, test().level, is_open=is_open)
    total = evidence.since.plus(answers) if evidence and not now.is_replayed else answers
    outcome, chance, is_open = test().compare(rate, total, answers.asked)
    return Comparison(outcome, baseline, (), rate, total, chance, test().level, is_open=is_open)


def _with_todays_names(baseline: Stanza, now: Stanza) -> Stanza:
    """The stanza, with the new names of tools that were renamed since, which is no change of the model."""
    renamed = renamed_tools(baseline.digests, now.digests)
    if not renamed or baseline.calls is None:
        return baseline
    return baseline._replace(
        calls=tuple(Call(renamed.get(each.name, each.name), each.arguments) for each in baseline.calls)
    )


def _is_edited(now: Stanza, known: EarlierFacts, before: _JudgedAgain | None, case: Case) -> bool:
    """Whether the case is not the one that was measured and accepted.

    An edited expectation by which the accepted answer is judged as before leaves the case the same.
    """
    baseline, key = known.baseline, Key.of(now.digests)
    digests = baseline.digests if baseline else {}
    then = known.measured.key if known.measured else Key.of(digests) if digests else key
    if baseline is None or before is None:
        return not key.is_same_case(then)
    if then.prompt != key.prompt or before.valid is not baseline.valid:
        return True
    return before.valid and not now.valid and _asks_for_more(now, baseline, case)


def _rate_before(baseline: Stanza | None) -> Rate:
    """The rate of a case of which at most the accepted answer is known."""
    return baseline.rate if baseline else Rate(0, 1)


def _compare_failures(
    baseline: Stanza | None, before: Rate, now: Rate, test: ChanceTest
) -> tuple[Outcome, float | None, bool]:
    """Compare a failure with failures: the outcome, its chance, and whether more answers may change it.

    A known failure may fail in several ways, of which one run shows one. What was never right and is not accepted
    fails, unless an answer shows that it may be right.
    """
    if now.right:
        return Outcome.FLAKY, None, False
    if baseline is None:
        return Outcome.NEW, None, before.asked + now.asked < _ENOUGH_FAILURES and now.asked < test.most
    outcome, chance, is_open = test.compare(Rate(before.asked, before.asked), now, now.asked)
    return (Outcome.NEW if outcome is Outcome.REGRESSED else outcome), chance, is_open


def _is_known_failure(now: CaseJudgement, baseline: Stanza, before: _JudgedAgain, ways: frozenset[str]) -> bool:
    """Whether the case failed before in one of the ways in which it fails now.

    The accepted failure is the same if it has the same reasons, today's or those of then, and the same calls. Where a
    case is asked several times by its own wish, each answer may be wrong in another way: there the reasons decide.
    """
    by_wish = now.stanza.samples and baseline.samples and not now.is_asked_again
    if by_wish and {*now.stanza.reasons} <= {*before.reasons, *baseline.reasons}:
        return True
    again = failure_way(baseline._replace(valid=False, reasons=before.reasons))
    return not {*ways, again, failure_way(baseline)}.isdisjoint(now.ways)


def _asks_for_more(now: Stanza, baseline: Stanza, case: Case) -> bool:
    """Whether all reasons are about parts that the baseline did not store: the answer's text, the wire, or spans."""
    answer_unknown = baseline.answer is None and case.turns[-1].answer is not None
    wire_unknown = baseline.wire is None
    spans_unknown = baseline.digests.get(EXPECTATION) != now.digests.get(EXPECTATION)
    return all(
        (answer_unknown and kind == "wrong_answer")
        or (wire_unknown and path.startswith("wire."))
        or (spans_unknown and path.startswith("spans."))
        for kind, path in now.reasons
    )


def _is_same_verdict(now: CaseJudgement, baseline: Stanza) -> bool:
    """Whether the verdict and all that it stands for are as accepted, so that nothing has to be judged again."""
    stanza = now.stanza
    if stanza.calls is None or baseline.calls is None or stanza.answer != baseline.answer:
        return False
    found = (now.verdict.valid, reason_pairs(now.verdict)) == (baseline.valid, baseline.reasons)
    return found and same_calls(baseline.calls, stanza.calls)


def _judge_again(now: CaseJudgement, baseline: Stanza, case: Case, judge: StanzaJudge) -> _JudgedAgain:
    """The accepted stanza by the case as it is today; as it was accepted, where the case is the same.

    A stanza does not keep all that a verdict depends on, such as a state. So a failure that is not found in it again
    was in what is not kept, and a suite's own judge may miss there what made an answer right.
    """
    if case.wire is None and case.spans is None and _is_same_verdict(now, baseline):
        return _JudgedAgain(baseline.valid, baseline.reasons, now.verdict)
    accepted = _JudgedAgain(baseline.valid, baseline.reasons)
    if baseline.calls is None:  # the reply could not be read: there are no calls to judge
        return accepted
    again = judge(baseline)
    is_own = case.judge is not None or case.conversation_judge is not None
    if _expects_the_same(now.stanza, baseline) and baseline.valid is not again.valid and (again.valid or is_own):
        return accepted
    return _JudgedAgain(again.valid, reason_pairs(again), again)


def _expects_the_same(now: Stanza, baseline: Stanza) -> bool:
    expected = baseline.digests.get(EXPECTATION)
    return expected is not None and expected == now.digests.get(EXPECTATION)


def _compare_right_answer(
    now: CaseJudgement, known: EarlierFacts, before: _JudgedAgain | None, case: Case
) -> Comparison:
    baseline, answers = known.baseline, now.stanza.rate
    rate = known.measured.rate if known.measured else _rate_before(baseline)
    if baseline is None or before is None:
        return Comparison(Outcome.NEW if rate.right else Outcome.FIXED, before=rate, now=answers)
    if not before.valid:
        return Comparison(Outcome.FLAKY if rate.right else Outcome.FIXED, baseline, before=rate, now=answers)
    drift = _drift(now.stanza, now.verdict, baseline, before.verdict, case)
    return Comparison(Outcome.DRIFTED if drift else Outcome.OK, baseline, drift, before=rate, now=answers)


def _drift(now: Stanza, verdict: Verdict, baseline: Stanza, before: Verdict | None, case: Case) -> tuple[str, ...]:
    """The differences in what the expectation constrains; none where another alternative was chosen."""
    if before is None or before is verdict:
        return ()
    old, new = ([*_turns_of(side, stanza)] for side, stanza in ((before, baseline), (verdict, now)))
    if [each.alternative for each, _ in old] != [each.alternative for each, _ in new]:
        return ()
    sides: tuple[list[Call], list[Call]] = ([], [])
    for turn, *both in zip(case.turns, old, new, strict=False):
        constrained = [_constrained_calls(turn.expect, each, calls, case.rules) for each, calls in both]
        for place in dict.fromkeys((*constrained[1], *constrained[0])):
            for side, calls in zip(sides, constrained, strict=True):
                side.extend(calls.get(place, ()))
    return tuple(call_differences(*sides))


def _turns_of(verdict: Verdict, stanza: Stanza) -> Iterator[tuple[Verdict, Sequence[Call]]]:
    """The verdict on each turn, and the calls of the turn."""
    if not verdict.turns:
        yield verdict, stanza.calls or ()
        return
    calls = iter(stanza.calls or ())
    for turn, counts in zip(verdict.turns, stanza.steps or (), strict=False):
        yield turn, tuple(islice(calls, sum(counts)))


_OPEN: Final = "…"
"""Replaces an unconstrained item of a list."""


def _constrained_calls(
    expectation: Expectation | None, verdict: Verdict, calls: Sequence[Call], rules: Rules
) -> Mapping[int, Sequence[Call]]:
    """The constrained parts of right calls, by the index of the expected call.

    Left out are calls that are only allowed, arguments that are free, and values for which the case has an operator.
    """
    if expectation is None:
        return {}
    expected = [call for stage in chosen_alternative(expectation, verdict.alternative).stages for call in stage]
    constrained: dict[int, list[Call]] = {}
    for place, index in sorted(verdict.pairs, key=lambda pair: pair[1]):
        constrained.setdefault(place, []).append(_constrained_call(expected[place], calls[index], rules))
    return constrained


def _constrained_call(expected: ExpectedCall, made: Call, rules: Rules) -> Call:
    patterns = expected.arguments
    if patterns is None:
        return Call(expected.tool, {})
    operators = tuple(rule.path for rule in rules.match if rule.operator is not None)
    named = {name: value for name, value in made.arguments.items() if name in patterns or not expected.open}
    return Call(expected.tool, dict(_Place(f"{made.name}.", operators).constrained_items(patterns, named)))


class _Place:
    """A place in the arguments of a call. `operators` are the paths for which `match:` has an operator."""

    def __init__(self, tool: str, operators: Sequence[str], keys: tuple[str | int, ...] = ()) -> None:
        self._tool = tool
        self._operators = operators
        self._keys = keys

    def constrained_items(
        self, patterns: Mapping[str, Pattern], values: Mapping[str, Json]
    ) -> Iterator[tuple[str, Json]]:
        """The constrained values of a mapping; a value without a pattern is one, such as a default written out."""
        for name, value in values.items():
            below = self._below(name)
            if not below.is_open(patterns.get(name)):
                yield name, below.constrained_value(patterns[name], value) if name in patterns else value

    def is_open(self, pattern: Pattern) -> bool:
        """Whether the pattern here, or a rule for this place, is an operator."""
        if isinstance(pattern, Operator):
            return pattern.name != "literal"
        if not self._operators:
            return False
        place = f"{self._tool}{path_text(self._keys)}"
        return any(glob_matches(path, place) for path in self._operators)

    def constrained_value(self, pattern: Pattern, value: Json) -> Json:
        """The value without its unconstrained parts."""
        if isinstance(pattern, Mapping) and isinstance(value, Mapping):
            return dict(self.constrained_items(pattern, value))
        if isinstance(pattern, list | tuple) and isinstance(value, list | tuple) and len(pattern) == len(value):
            return [self._item(index, pattern[index], value[index]) for index in range(len(value))]
        return value

    def _item(self, index: int, pattern: Pattern, value: Json) -> Json:
        below = self._below(index)
        return _OPEN if below.is_open(pattern) else below.constrained_value(pattern, value)

    def _below(self, key: str | int) -> _Place:
        return _Place(self._tool, self._operators, (*self._keys, key))

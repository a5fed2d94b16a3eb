"""The strength of one case: which mistakes it notices, and what lets the others pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.extension import Comparator
from pytest_fcall.core.values import path_text
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.matching.context import MatchContext, MatchContexts
from pytest_fcall.strength.examples import ExampleSources
from pytest_fcall.strength.judgeable_part import NOTHING_ACCEPTED, AcceptedValues, judgeable_part, with_results
from pytest_fcall.strength.mistakes.kinds import weight
from pytest_fcall.strength.mutants import Mutant, mutants_of
from pytest_fcall.strength.readings import Looseness, OpenPlace, loosenesses, tighten_case
from pytest_fcall.strength.right_answers import RightAnswers, right_answers
from pytest_fcall.strength.samples import numbers_of_question, words_of_question
from pytest_fcall.strength.scripts import Script, SureRefusals, judge_script

_MOST_CALLS: Final = 100
"""Wrong answers with more calls take seconds to judge."""
_MOST_CAUSES: Final = 40
"""The most expectations that are tried as what lets a mistake pass."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mistake that a case does not notice, and the expectations that let it pass.

    The edits of all of them together make the case notice it, and keep its right answers right; that was tried. There
    are none where no edit of the expectation helps, such as under the rule of a suite.
    """

    mutant: Mutant
    causes: tuple[Looseness, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """The weights of the mistakes that are noticed, that survive, and of which only a run decides."""

    caught: float = 0.0
    survived: float = 0.0
    undecided: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.caught + other.caught, self.survived + other.survived, self.undecided + other.undecided)

    @property
    def whole(self) -> float:
        """All of it."""
        return self.caught + self.survived + self.undecided


@dataclass(frozen=True, slots=True)
class CaseStrength:
    """The results of judging mutants of the right answers to a case. The weights of a case add up to 1."""

    case: Case
    tally: Tally = Tally()
    counts: Tally = Tally()
    """The numbers of mutants in place of their weights."""
    by_tool: Mapping[str, Tally] = field(default_factory=dict)
    survivors: tuple[Survivor, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    """The weight of one mutant of each kind of mistake."""
    same: int = 0
    """The number of mutants that mean the same as a right answer."""
    left_open: int = 0
    """The number of mutants in what a rule of `match:` leaves open."""
    undecided_by: tuple[str, ...] = ()
    """The parts of the case that may notice what else survives."""
    bounded: bool = False
    """Whether there are more mutants than were judged."""
    unmeasured_reason: str = ""
    """The reason why the case is not mutated."""
    contradiction: str = ""
    """The reason why an answer that should be right is not, by the case itself."""


def strength_of(
    case: Case,
    comparators: Mapping[str, Comparator],
    contexts: MatchContexts,
    accepted: AcceptedValues = NOTHING_ACCEPTED,
) -> CaseStrength:
    """The strength of a case. What it leaves open is as in the accepted answer, where there is one."""
    part = judgeable_part(with_results(case, accepted.results))
    if part.unmeasured_reason:
        return CaseStrength(case, unmeasured_reason=part.unmeasured_reason)
    context = contexts.of(case.tools, case.rules, comparators)
    known = ExampleSources(words_of_question(case), numbers_of_question(case), accepted.values)
    right = right_answers(part.case, context, known)
    if right.unmeasured_reason:
        return CaseStrength(case, unmeasured_reason=right.unmeasured_reason)
    if any(len(turn.calls) > _MOST_CALLS for script in right.scripts for turn in script):
        return CaseStrength(case, unmeasured_reason=f"its right answer has more than {_MOST_CALLS} calls")
    for script in right.scripts:
        verdict = judge_script(script, part.case, context)
        if not verdict.valid:
            return _refused(part.case, right, verdict)
    exam = _Exam(part.case, right, context)
    found = mutants_of(part.case, right.scripts, context, known)
    if not found.mutants:
        return CaseStrength(case, unmeasured_reason="there is nothing in its right answer that could be wrong")
    return replace(_summed(case, exam, found.mutants, part.unjudged), bounded=found.bounded or right.bounded)


def _refused(case: Case, right: RightAnswers, verdict: Verdict) -> CaseStrength:
    """A case that refuses what was made of it: a contradiction only where the case itself says all that was made."""
    if case.judge is not None:
        return CaseStrength(case, unmeasured_reason="no answer is known that the rule of its suite calls right")
    why = "; ".join(reason.message for reason in verdict.reasons[:2])
    if loosenesses(case, right):
        return CaseStrength(case, unmeasured_reason=f"no right answer is known; one that was made up is refused: {why}")
    return CaseStrength(case, contradiction=why)


class _Exam:
    """Judges mutants by a case and by its readings."""

    def __init__(self, case: Case, right: RightAnswers, context: MatchContext) -> None:
        self._case = case
        self._right = right
        self._context = context
        self._readings: dict[frozenset[OpenPlace], tuple[Case, MatchContext]] = {}
        self._loose: tuple[Looseness, ...] | None = None
        self._refusals = SureRefusals(case, context)
        self._sound: dict[frozenset[OpenPlace], bool] = {}
        """By closed places, whether right answers are right then."""

    @property
    def loose(self) -> tuple[Looseness, ...]:
        """The parts that the case leaves open; computed only when a mutant is accepted."""
        if self._loose is None:
            self._loose = loosenesses(self._case, self._right)
        return self._loose

    def accepts(self, script: Script) -> bool:
        """Whether the case accepts a script."""
        return not self._refusals.covers(script) and judge_script(script, self._case, self._context).valid

    def accepts_closed(self, script: Script, closed: frozenset[OpenPlace]) -> bool:
        """Whether the case would accept it if these places accepted the right answers only."""
        if closed not in self._readings:
            reading = tighten_case(self._case, self._right, closed.__contains__)
            rules = reading.rules
            context = self._context if rules is self._case.rules else self._context.with_rules(rules)
            self._readings[closed] = reading, context
        reading, context = self._readings[closed]
        return judge_script(script, reading, context).valid

    def means_the_same(self, script: Script) -> bool:
        """Whether the named reading accepts it."""
        return self.accepts_closed(script, frozenset(each.place for each in self.loose))

    def is_left_open(self, script: Script) -> bool:
        """Whether nothing but rules that leave a parameter open accepts it."""
        if not any(each.by_rule for each in self.loose):
            return False
        return self.accepts_closed(script, frozenset(each.place for each in self.loose if not each.by_rule))

    def causes(self, mutant: Mutant) -> tuple[Looseness, ...]:
        """Expectations without which a mutant is refused and right answers are not: one where that is enough."""
        near = sorted(self.loose, key=lambda each: not _is_about(each, mutant))[:_MOST_CAUSES]
        for each in near:
            if self._helps(mutant.script, [each]):
                return (each,)
        left = near
        if not self._helps(mutant.script, left):
            return ()
        for each in near:
            without = [other for other in left if other is not each]
            if self._helps(mutant.script, without):
                left = without
        return tuple(left)

    def _helps(self, script: Script, closed: Sequence[Looseness]) -> bool:
        places = frozenset(each.place for each in closed)
        if self._case.judge is not None or self.accepts_closed(script, places):
            return False
        if places not in self._sound:
            self._sound[places] = all(self.accepts_closed(right, places) for right in self._right.scripts)
        return self._sound[places]


def _is_about(loose: Looseness, mutant: Mutant) -> bool:
    """Whether a place is the one at which something is wrong."""
    path = path_text(loose.place.path)
    return bool(path) and mutant.place.startswith(path)


def _summed(case: Case, exam: _Exam, mutants: Sequence[Mutant], unjudged: tuple[str, ...]) -> CaseStrength:
    caught: list[Mutant] = []
    passed: list[Mutant] = []
    same = left_open = 0
    for mutant in mutants:
        if not exam.accepts(mutant.script):
            caught.append(mutant)
        elif exam.means_the_same(mutant.script):
            same += 1
        elif exam.is_left_open(mutant.script):
            left_open += 1
        else:
            passed.append(mutant)
    weights = _weights([*caught, *passed])
    tally, counts = Tally(), Tally()
    by_tool: dict[str, Tally] = {}
    for mutant, one in [(each, Tally(caught=1)) for each in caught] + [
        (each, Tally(undecided=1) if unjudged else Tally(survived=1)) for each in passed
    ]:
        share = weights[mutant.mistake]
        weighted = Tally(one.caught * share, one.survived * share, one.undecided * share)
        tally, counts = tally + weighted, counts + one
        by_tool[mutant.tool] = by_tool.get(mutant.tool, Tally()) + weighted
    survivors = () if unjudged else tuple(Survivor(each, exam.causes(each)) for each in passed)
    unmeasured_reason = "" if weights else "every mistake in it means the same, or is left open by a rule"
    return CaseStrength(
        case,
        tally,
        counts,
        by_tool,
        survivors,
        weights,
        same,
        left_open,
        unjudged if passed else (),
        unmeasured_reason=unmeasured_reason,
    )


def _weights(mutants: Sequence[Mutant]) -> dict[str, float]:
    """The weight of one mutant of each kind. All of a kind together count as often as models make the mistake."""
    counts = Counter(mutant.mistake for mutant in mutants)
    whole = sum(map(weight, counts))
    return {mistake: weight(mistake) / whole / count for mistake, count in counts.items()}

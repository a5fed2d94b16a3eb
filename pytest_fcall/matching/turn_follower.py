"""A turn of a conversation, followed while it goes on: which expected call is each call that is made?

Nobody asks the judge meanwhile: values that a model has to judge are let in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pytest_fcall.core.conversation import CallResult, FollowedCall, NamedCall, NamedCalls
from pytest_fcall.core.expectation import CallPattern, Expectation, ExpectedCall, MatchRule, Rules
from pytest_fcall.core.operators import Operator, Pattern, pattern_operators
from pytest_fcall.core.reply import Call, Calls, Reply
from pytest_fcall.core.request import Tool
from pytest_fcall.matching.assignment import covering_assignment
from pytest_fcall.matching.call_comparison import CallComparison, wire_effects_of
from pytest_fcall.matching.calls import UnconditionalFindings, has_too_many_calls
from pytest_fcall.matching.references import resolved_call, resolved_call_patterns
from pytest_fcall.matching.reply import alternative_within, judge

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


_ANYTHING: Final = Operator("ignore", True)


def rules_without_judge(rules: Rules) -> Rules:
    """The rules as if the judge had nothing against any value."""
    return replace(
        rules, match=tuple(map(_rule_without_judge, rules.match)), never=_patterns_without_judge(rules.never)
    )


def without_judge(expectation: Expectation) -> Expectation:
    """The same of an expectation. Calls are forbidden only where that does not depend on the judge."""
    return replace(
        expectation,
        stages=tuple(tuple(map(_call_without_judge, stage)) for stage in expectation.stages),
        allow=tuple(replace(each, arguments=_arguments_without_judge(each.arguments)) for each in expectation.allow),
        never=_patterns_without_judge(expectation.never),
        alternatives=tuple(map(without_judge, expectation.alternatives)),
    )


def _rule_without_judge(rule: MatchRule) -> MatchRule:
    return replace(rule, operator=_ANYTHING) if _is_judged(rule.operator) else rule


def _call_without_judge(expected: ExpectedCall) -> ExpectedCall:
    return replace(expected, arguments=_arguments_without_judge(expected.arguments))


def _arguments_without_judge(arguments: Mapping[str, Pattern] | None) -> Mapping[str, Pattern] | None:
    if arguments is None:
        return None
    return {name: _ANYTHING if _is_judged(value) else value for name, value in arguments.items()}


def _patterns_without_judge(never: tuple[CallPattern, ...]) -> tuple[CallPattern, ...]:
    return tuple(each for each in never if not _is_judged(each.arguments))


def _is_judged(pattern: Pattern) -> bool:
    return any(operator.name == "judge" for operator in pattern_operators(pattern))


_NO_CALLS_YET: NamedCalls = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MatchContext:
    """What is the same for all turns of a case."""

    tools: Sequence[Tool]
    rules: Rules
    comparators: Mapping[str, Comparator]


class TurnFollower:
    """Calls of one turn as they come. Of alternatives the first counts under which all calls so far may be made.

    Each call goes to an expected call that it fits and that is not yet made often enough; earlier calls make room,
    if they fit elsewhere. In what order groups come is not looked at: that is for the verdict to say. `known` are the
    named calls, those of earlier turns included.
    """

    def __init__(self, expectation: Expectation | None, exam: MatchContext, known: NamedCalls = _NO_CALLS_YET) -> None:
        self._sides = [_AlternativeFollower(each, exam, known) for each in _alternatives(expectation)]

    @property
    def known(self) -> NamedCalls:
        """All calls that have a name; of alternatives those of one in which nothing is missing, if there is any."""
        return min(self._sides, key=lambda side: (side.strays, not side.is_complete)).known

    @property
    def is_complete(self) -> bool:
        """Whether everything was called that must be, and nothing that may not."""
        return any(side.is_complete for side in self._sides)

    def take(self, reply: Reply, calls: Sequence[Call]) -> list[FollowedCall]:
        """The calls of one reply. Those before it must be answered by now."""
        seen = [side.take(calls, wire_effects_of(reply)) for side in self._sides]
        return min(zip(self._sides, seen, strict=True), key=lambda taken: taken[0].strays)[1]

    def answered(self, results: Sequence[CallResult]) -> None:
        """What came of the calls that were taken last."""
        for side in self._sides:
            side.answered(results)


class _AlternativeFollower:
    """The same for one alternative."""

    def __init__(self, expectation: Expectation | None, exam: MatchContext, known: NamedCalls) -> None:
        self.expectation = without_judge(expectation or Expectation(extra="allow"))
        self.expected = [call for stage in self.expectation.stages for call in stage]
        self.strays = 0
        """Calls that nothing lets in."""
        self._before = known
        self._exam = exam
        self._rules = rules_without_judge(exam.rules)
        self._fits: list[list[int]] = [[] for _ in self.expected]
        self._owner: dict[int, int] = {}
        """The number of each call that is expected -> the place of what expects it."""
        self._answered = [0] * len(self.expected)
        self._made: list[NamedCall] = []
        self._taken = 0
        """How many calls had been made before those that were taken last."""

    @property
    def known(self) -> NamedCalls:
        """All calls that have a name; of several calls of one name the last."""
        owned = ((self.expected[place].name, self._made[number]) for number, place in sorted(self._owner.items()))
        return {**self._before, **{name: made for name, made in owned if name}}

    @property
    def is_complete(self) -> bool:
        if self.strays or (self.expectation.kind == "any_call" and not self._made):
            return False
        return covering_assignment([each.times for each in self.expected], self._fits, ()) is not None

    def take(self, calls: Sequence[Call], effects: Collection[str]) -> list[FollowedCall]:
        comparison = CallComparison(calls, self._exam.tools, self._rules, self._exam.comparators, effects)
        self._taken = len(self._made)
        for index, call in enumerate(comparison.calls):
            self._made.append(NamedCall(call.arguments))
            self._find_place(index, comparison)
        # Calls that were made at once may still change places among themselves.
        known = self.known
        alarms = UnconditionalFindings(
            replace(self.expectation, never=resolved_call_patterns(self.expectation.never, known)), comparison
        )
        allowed = resolved_call_patterns(self.expectation.allow, known)
        return [self._seen(index, comparison, alarms, allowed) for index in range(len(calls))]

    def answered(self, results: Sequence[CallResult]) -> None:
        for number, result in enumerate(results[: len(self._made) - self._taken], self._taken):
            self._made[number] = self._made[number]._replace(result=result)

    def _seen(
        self, index: int, comparison: CallComparison, alarms: UnconditionalFindings, allowed: Sequence[CallPattern]
    ) -> FollowedCall:
        call = comparison.calls[index]
        forbidden = any(reason.kind == "forbidden_call" for reason in alarms.of(index))
        place = self._owner.get(self._taken + index)
        if place is None:
            let_in = self._lets_in(index, comparison, allowed)
            self.strays += not let_in
            return FollowedCall(call, expected=let_in, forbidden=forbidden)
        nth, self._answered[place] = self._answered[place], self._answered[place] + 1
        return FollowedCall(call, self.expected[place].canned, nth, expected=True, forbidden=forbidden)

    def _find_place(self, index: int, comparison: CallComparison) -> None:
        """Find out which expected call this one is, if it is one."""
        number = self._taken + index
        if has_too_many_calls(number + 1, self.expectation):
            return
        known = self.known
        # A comparison knows what is expected by its identity, so that all of it has to live as long.
        wanted = [resolved_call(expected, known) for expected in self.expected]
        fitting = [self._fits[place] for place, each in enumerate(wanted) if self._is_right(each, index, comparison)]
        for fits in fitting:
            fits.append(number)
        owner = covering_assignment([(0, each.times[1]) for each in self.expected], self._fits, [*self._owner, number])
        if owner is not None:
            self._owner = owner
            return
        for fits in fitting:
            fits.pop()

    def _is_right(self, expected: ExpectedCall, index: int, comparison: CallComparison) -> bool:
        if self._rules.profile == "bfcl":
            alone, this = Calls((comparison.calls[index],)), Expectation(stages=((expected,),))
            return judge(Reply(), alone, this, self._exam.tools, self._rules).valid
        return comparison.mismatches(expected, index) == []

    def _lets_in(self, index: int, comparison: CallComparison, allowed: Sequence[CallPattern]) -> bool:
        if comparison.is_unknown(index):
            return False
        if self.expectation.extra == "allow" or self.expectation.kind == "any_call":
            return True
        return any(comparison.pattern(pattern, index) == [] for pattern in allowed)


def _alternatives(expectation: Expectation | None) -> list[Expectation | None]:
    if expectation is None or expectation.kind != "any_of":
        return [expectation]
    return [alternative_within(each, expectation) for each in expectation.alternatives]

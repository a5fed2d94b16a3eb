"""A turn of a conversation, followed while it goes on: which expected call is each new call?

No judge model is asked meanwhile: values that a model has to judge count as right. A turn with faulty results is
followed as if the calls that had them were never made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.conversation import CallResult, FollowedCall, Follower, NamedCall, NamedCalls
from pytest_fcall.core.expectation import CallPattern, Expectation, ExpectedCall, MatchRule, Rules
from pytest_fcall.core.operators import Operator, Pattern, pattern_operators
from pytest_fcall.core.reply import Call, Calls, Reply
from pytest_fcall.core.result_fault import ResultFault
from pytest_fcall.matching.assignment import covering_assignment
from pytest_fcall.matching.call_comparison import CallComparison, wire_effects_of
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.references import resolved_call, resolved_call_patterns
from pytest_fcall.matching.reply import alternative_within, has_too_many_calls, judge, unconditional_reasons

_ANYTHING: Final = Operator("ignore", True)
_NO_CALLS_YET: NamedCalls = MappingProxyType({})


class TurnFollower:
    """Follows the calls of one turn. Of alternatives, the first counts under which all calls so far are allowed.

    Each call is assigned to an expected call that it matches and that may be made once more; earlier calls move to
    other expected calls if they can. The order of stages is left to the verdict. `known` are the named calls of
    earlier turns.
    """

    def __init__(
        self, expectation: Expectation | None, context: MatchContext, known: NamedCalls = _NO_CALLS_YET
    ) -> None:
        context = context.with_rules(_rules_without_judge(context.rules))
        self._alternatives = [_AlternativeFollower(each, context, known) for each in _alternatives(expectation)]

    @property
    def known(self) -> NamedCalls:
        """All named calls; of alternatives, those of the first complete one, if there is any."""
        return min(self._alternatives, key=lambda each: (each.unexpected_count, not each.is_complete)).known

    @property
    def is_complete(self) -> bool:
        """Whether all required calls were made, and no unexpected or forbidden one."""
        return any(each.is_complete for each in self._alternatives)

    def follow(self, reply: Reply, calls: Sequence[Call]) -> list[FollowedCall]:
        """Follow the calls of one reply. The results of those before it must be recorded by now."""
        effects = wire_effects_of(reply)
        followed = [each.follow(calls, effects) for each in self._alternatives]
        return min(zip(self._alternatives, followed, strict=True), key=lambda pair: pair[0].unexpected_count)[1]

    def record_results(self, results: Sequence[CallResult]) -> None:
        """Record the results of the calls that were followed last."""
        for each in self._alternatives:
            each.record_results(results)


def recovering_followers(
    follow: Callable[[Expectation | None, NamedCalls], Follower], fault: ResultFault
) -> Callable[[Expectation | None, NamedCalls], Follower]:
    """Make followers that recover from a fault, of those that `follow` makes."""
    return lambda expectation, known: RecoveryFollower(lambda: follow(expectation, known), fault)


class RecoveryFollower:
    """Follows the calls of one turn, without those that had a faulty result, so that they may be made again.

    Behind a faulty result the tools that may be called instead are allowed. `make` makes the follower of the others.
    """

    def __init__(self, make: Callable[[], Follower], fault: ResultFault) -> None:
        self._make = make
        self._fault = fault
        self._follower = make()
        self._kept: list[tuple[Reply, list[Call], list[CallResult]]] = []
        self._last: tuple[Reply, Sequence[Call]] = (Reply(), ())
        self._instead: frozenset[int] = frozenset()
        self._has_fault = False

    @property
    def known(self) -> NamedCalls:
        """All calls with a name that had a sound result."""
        return self._follower.known

    @property
    def is_complete(self) -> bool:
        """Whether all required calls had a sound result."""
        return self._follower.is_complete

    def follow(self, reply: Reply, calls: Sequence[Call]) -> list[FollowedCall]:
        """Follow the calls of one reply."""
        self._last = reply, calls
        followed = self._follower.follow(reply, calls)
        self._instead = frozenset(index for index, each in enumerate(followed) if self._is_instead(each))
        return [replace(each, expected=True) if index in self._instead else each for index, each in enumerate(followed)]

    def record_results(self, results: Sequence[CallResult]) -> None:
        """Record the results of the calls that were followed last."""
        self.keep(results)

    def keep(self, results: Sequence[CallResult]) -> list[int]:
        """The same; gives the indices of the calls that count."""
        reply, calls = self._last
        faulty = {index for index, result in enumerate(results) if result.fault}
        kept = [index for index in range(len(calls)) if index not in faulty and index not in self._instead]
        given = [results[index] for index in kept if index < len(results)]
        self._kept.append((reply, [calls[index] for index in kept], given))
        self._has_fault = self._has_fault or bool(faulty)
        self._follower = self._make()
        for earlier in self._kept:
            self._follower.follow(*earlier[:2])
            self._follower.record_results(earlier[2])
        return kept

    def _is_instead(self, each: FollowedCall) -> bool:
        is_free = self._has_fault and not each.expected and not each.forbidden
        return is_free and each.call.name in self._fault.other_tools


class _AlternativeFollower:
    """Follows the calls of one turn under one alternative."""

    def __init__(self, expectation: Expectation | None, context: MatchContext, known: NamedCalls) -> None:
        self.expectation = _without_judge(expectation or Expectation(extra="allow"))
        self.expected = [call for stage in self.expectation.stages for call in stage]
        self.unexpected_count = 0
        """The number of calls that are neither expected nor allowed."""
        self._has_forbidden = False
        self._before = known
        self._context = context
        self._fits: list[list[int]] = [[] for _ in self.expected]
        """The numbers of the calls that match each expected call."""
        self._owner: dict[int, int] = {}
        """The number of each call that is expected -> the index of its expected call."""
        self._result_counts = [0] * len(self.expected)
        self._made: list[NamedCall] = []
        self._first = 0
        """The number of the first call of the last reply."""

    @property
    def known(self) -> NamedCalls:
        """All named calls; of several calls of one name the last."""
        owned = ((self.expected[place].name, self._made[number]) for number, place in sorted(self._owner.items()))
        return {**self._before, **{name: made for name, made in owned if name}}

    @property
    def is_complete(self) -> bool:
        if self.unexpected_count or self._has_forbidden or (self.expectation.kind == "any_call" and not self._made):
            return False
        return covering_assignment([each.times for each in self.expected], self._fits, ()) is not None

    def follow(self, calls: Sequence[Call], effects: Collection[str]) -> list[FollowedCall]:
        comparison = CallComparison(calls, self._context, effects)
        self._first = len(self._made)
        for index, call in enumerate(comparison.calls):
            self._made.append(NamedCall(call.arguments))
            self._assign(index, comparison)
        # Calls of one reply may still change places among themselves, so what follows comes after all are assigned.
        known = self.known
        never = (*resolved_call_patterns(self.expectation.never, known), *self._context.rules.never)
        allowed = resolved_call_patterns(self.expectation.allow, known)
        return [self._followed(index, comparison, never, allowed) for index in range(len(calls))]

    def record_results(self, results: Sequence[CallResult]) -> None:
        for number, result in enumerate(results[: len(self._made) - self._first], self._first):
            self._made[number] = self._made[number]._replace(result=result)

    def _followed(
        self, index: int, comparison: CallComparison, never: Sequence[CallPattern], allowed: Sequence[CallPattern]
    ) -> FollowedCall:
        call = comparison.calls[index]
        reasons = unconditional_reasons(index, comparison, never)
        forbidden = any(reason.kind == "forbidden_call" for reason in reasons)
        self._has_forbidden = self._has_forbidden or forbidden
        place = self._owner.get(self._first + index)
        if place is None:
            is_allowed = self._is_allowed(index, comparison, allowed)
            self.unexpected_count += not is_allowed
            return FollowedCall(call, expected=is_allowed, forbidden=forbidden)
        nth, self._result_counts[place] = self._result_counts[place], self._result_counts[place] + 1
        return FollowedCall(call, self.expected[place].stub, nth, expected=True, forbidden=forbidden)

    def _assign(self, index: int, comparison: CallComparison) -> None:
        """Assign a call to an expected call, if it matches one."""
        number = self._first + index
        if has_too_many_calls(number + 1, self.expectation):
            return
        known = self.known
        expected = [resolved_call(each, known) for each in self.expected]
        fitting = [self._fits[place] for place, each in enumerate(expected) if self._is_right(each, index, comparison)]
        for fits in fitting:
            fits.append(number)
        owner = covering_assignment([(0, each.times[1]) for each in self.expected], self._fits, [*self._owner, number])
        if owner is not None:
            self._owner = owner
            return
        for fits in fitting:
            fits.pop()

    def _is_right(self, expected: ExpectedCall, index: int, comparison: CallComparison) -> bool:
        if self._context.rules.profile == "bfcl":
            expectation = Expectation(stages=((expected,),))
            return judge(Reply(), Calls((comparison.calls[index],)), expectation, self._context).valid
        return comparison.mismatches(expected, index) == []

    def _is_allowed(self, index: int, comparison: CallComparison, allowed: Sequence[CallPattern]) -> bool:
        if comparison.is_unknown(index):
            return False
        if self.expectation.extra == "allow" or self.expectation.kind == "any_call":
            return True
        return any(comparison.pattern_mismatches(pattern, index) == [] for pattern in allowed)


def _alternatives(expectation: Expectation | None) -> list[Expectation | None]:
    if expectation is None or expectation.kind != "any_of":
        return [expectation]
    return [alternative_within(each, expectation) for each in expectation.alternatives]


def _rules_without_judge(rules: Rules) -> Rules:
    """The rules without values that a model has to judge: any value is right there."""
    match = tuple(map(_rule_without_judge, rules.match))
    return rules._replace(match=match, never=_patterns_without_judge(rules.never))


def _without_judge(expectation: Expectation) -> Expectation:
    """The expectation without values that a model has to judge. Calls that only a judge could forbid are allowed."""
    return replace(
        expectation,
        stages=tuple(
            tuple(replace(call, arguments=_arguments_without_judge(call.arguments)) for call in stage)
            for stage in expectation.stages
        ),
        allow=tuple(replace(each, arguments=_arguments_without_judge(each.arguments)) for each in expectation.allow),
        never=_patterns_without_judge(expectation.never),
        alternatives=tuple(map(_without_judge, expectation.alternatives)),
    )


def _rule_without_judge(rule: MatchRule) -> MatchRule:
    return replace(rule, operator=_ANYTHING) if _is_judged(rule.operator) else rule


def _arguments_without_judge(arguments: Mapping[str, Pattern] | None) -> Mapping[str, Pattern] | None:
    if arguments is None:
        return None
    return {name: _ANYTHING if _is_judged(value) else value for name, value in arguments.items()}


def _patterns_without_judge(never: tuple[CallPattern, ...]) -> tuple[CallPattern, ...]:
    return tuple(each for each in never if not _is_judged(each.arguments))


def _is_judged(pattern: Pattern) -> bool:
    return any(operator.name == "judge" for operator in pattern_operators(pattern))

"""A turn of a conversation, followed while it goes on: which expected call is each call that is made?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.core.call import Call, Calls
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.expectation import CallPattern, Expectation, ExpectedCall
from pytest_fcall.core.following import Known, Named, Seen
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.rules import Rules
from pytest_fcall.core.tool import Tool
from pytest_fcall.matching.alarms import Alarms
from pytest_fcall.matching.called import is_too_many
from pytest_fcall.matching.comparison import Comparison
from pytest_fcall.matching.judge import inherits, judge
from pytest_fcall.matching.pairing import cover
from pytest_fcall.matching.references import patterns_with_known, with_known
from pytest_fcall.matching.unjudged import unjudged, unjudged_rules
from pytest_fcall.matching.wire import wire_of

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator

_NONE_YET: Known = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Exam:
    """What is the same for all turns of a case."""

    tools: Sequence[Tool]
    rules: Rules
    comparators: Mapping[str, Comparator]


class Following:
    """Calls of one turn as they come. Of alternatives the first counts under which all calls so far may be made.

    Each call goes to an expected call that it fits and that is not yet made often enough; earlier calls make room,
    if they fit elsewhere. In what order groups come is not looked at: that is for the verdict to say. `known` are the
    named calls, those of earlier turns included.
    """

    def __init__(self, expectation: Expectation | None, exam: Exam, known: Known = _NONE_YET) -> None:
        self._sides = [_Side(each, exam, known) for each in _alternatives(expectation)]

    @property
    def known(self) -> Known:
        """All calls that have a name; of alternatives those of one in which nothing is missing, if there is any."""
        return min(self._sides, key=lambda side: (side.strays, not side.is_complete)).known

    @property
    def is_complete(self) -> bool:
        """Whether everything was called that must be, and nothing that may not."""
        return any(side.is_complete for side in self._sides)

    def take(self, reply: Reply, calls: Sequence[Call]) -> list[Seen]:
        """The calls of one reply. Those before it must be answered by now."""
        seen = [side.take(calls, wire_of(reply)) for side in self._sides]
        return min(zip(self._sides, seen, strict=True), key=lambda taken: taken[0].strays)[1]

    def answered(self, results: Sequence[Executed]) -> None:
        """What came of the calls that were taken last."""
        for side in self._sides:
            side.answered(results)


class _Side:
    """The same for one alternative."""

    def __init__(self, expectation: Expectation | None, exam: Exam, known: Known) -> None:
        self.expectation = unjudged(expectation or Expectation(extra="allow"))
        self.expected = [call for stage in self.expectation.stages for call in stage]
        self.strays = 0
        """Calls that nothing lets in."""
        self._before = known
        self._exam = exam
        self._rules = unjudged_rules(exam.rules)
        self._fits: list[list[int]] = [[] for _ in self.expected]
        self._owner: dict[int, int] = {}
        """The number of each call that is expected -> the place of what expects it."""
        self._answered = [0] * len(self.expected)
        self._made: list[Named] = []
        self._taken = 0
        """How many calls had been made before those that were taken last."""

    @property
    def known(self) -> Known:
        """All calls that have a name; of several calls of one name the last."""
        owned = ((self.expected[place].name, self._made[number]) for number, place in sorted(self._owner.items()))
        return {**self._before, **{name: made for name, made in owned if name}}

    @property
    def is_complete(self) -> bool:
        if self.strays or (self.expectation.kind == "any_call" and not self._made):
            return False
        return cover([each.times for each in self.expected], self._fits, ()) is not None

    def take(self, calls: Sequence[Call], effects: Collection[str]) -> list[Seen]:
        comparison = Comparison(calls, self._exam.tools, self._rules, self._exam.comparators, effects)
        self._taken = len(self._made)
        for index, call in enumerate(comparison.calls):
            self._made.append(Named(call.arguments))
            self._find_place(index, comparison)
        # Calls that were made at once may still change places among themselves.
        known = self.known
        alarms = Alarms(replace(self.expectation, never=patterns_with_known(self.expectation.never, known)), comparison)
        allowed = patterns_with_known(self.expectation.allow, known)
        return [self._seen(index, comparison, alarms, allowed) for index in range(len(calls))]

    def answered(self, results: Sequence[Executed]) -> None:
        for number, result in enumerate(results[: len(self._made) - self._taken], self._taken):
            self._made[number] = self._made[number]._replace(result=result)

    def _seen(self, index: int, comparison: Comparison, alarms: Alarms, allowed: Sequence[CallPattern]) -> Seen:
        call = comparison.calls[index]
        forbidden = any(reason.kind == "forbidden_call" for reason in alarms.of(index))
        place = self._owner.get(self._taken + index)
        if place is None:
            let_in = self._lets_in(index, comparison, allowed)
            self.strays += not let_in
            return Seen(call, expected=let_in, forbidden=forbidden)
        nth, self._answered[place] = self._answered[place], self._answered[place] + 1
        return Seen(call, self.expected[place].canned, nth, expected=True, forbidden=forbidden)

    def _find_place(self, index: int, comparison: Comparison) -> None:
        """Find out which expected call this one is, if it is one."""
        number = self._taken + index
        if is_too_many(number + 1, self.expectation):
            return
        known = self.known
        # A comparison knows what is expected by its identity, so that all of it has to live as long.
        wanted = [with_known(expected, known) for expected in self.expected]
        fitting = [self._fits[place] for place, each in enumerate(wanted) if self._is_right(each, index, comparison)]
        for fits in fitting:
            fits.append(number)
        owner = cover([(0, each.times[1]) for each in self.expected], self._fits, [*self._owner, number])
        if owner is not None:
            self._owner = owner
            return
        for fits in fitting:
            fits.pop()

    def _is_right(self, expected: ExpectedCall, index: int, comparison: Comparison) -> bool:
        if self._rules.profile == "bfcl":
            alone, this = Calls((comparison.calls[index],)), Expectation(stages=((expected,),))
            return judge(Reply(), alone, this, self._exam.tools, self._rules).valid
        return comparison.mismatches(expected, index) == []

    def _lets_in(self, index: int, comparison: Comparison, allowed: Sequence[CallPattern]) -> bool:
        if comparison.is_unknown(index):
            return False
        if self.expectation.extra == "allow" or self.expectation.kind == "any_call":
            return True
        return any(comparison.pattern(pattern, index) == [] for pattern in allowed)


def _alternatives(expectation: Expectation | None) -> list[Expectation | None]:
    if expectation is None or expectation.kind != "any_of":
        return [expectation]
    return [inherits(each, expectation) for each in expectation.alternatives]

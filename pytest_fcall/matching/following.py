"""A turn of a conversation, followed while it goes on: which expected call is each call that is made?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.core.call import Call
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.expectation import CallPattern, Expectation, ExpectedCall
from pytest_fcall.core.following import Known, Named, Seen
from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.rules import Rules
from pytest_fcall.core.tool import Tool
from pytest_fcall.matching.alarms import Alarms
from pytest_fcall.matching.comparison import Comparison
from pytest_fcall.matching.judge import inherits
from pytest_fcall.matching.pairing import cover
from pytest_fcall.matching.references import with_known
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
        """All calls that have a name."""
        return self._side.known

    @property
    def is_complete(self) -> bool:
        """Whether everything was called that must be, and nothing that may not."""
        return any(side.is_complete for side in self._sides)

    def take(self, reply: Reply, calls: Sequence[Call]) -> list[Seen]:
        """The calls of one reply. Those before it must be answered by now."""
        seen = [side.take(calls, wire_of(reply)) for side in self._sides]
        return seen[self._sides.index(self._side)]

    def answered(self, results: Sequence[Executed]) -> None:
        """What came of the calls that were taken last."""
        for side in self._sides:
            side.answered(results)

    @property
    def _side(self) -> _Side:
        return min(self._sides, key=lambda side: side.strays)


class _Side:
    """The same for one alternative."""

    def __init__(self, expectation: Expectation | None, exam: Exam, known: Known) -> None:
        expectation = expectation or Expectation(extra="allow")
        self.expectation = replace(expectation, never=_decided(expectation.never))
        self.expected = [call for stage in self.expectation.stages for call in stage]
        self.known = dict(known)
        self.strays = 0
        """Calls that nothing lets in."""
        self._exam = exam
        self._rules = replace(exam.rules, never=_decided(exam.rules.never))
        self._fits: list[list[int]] = [[] for _ in self.expected]
        self._owner: dict[int, int] = {}
        self._answered = [0] * len(self.expected)
        self._made = 0
        self._last: list[int | None] = []

    @property
    def is_complete(self) -> bool:
        if self.strays or (self.expectation.kind == "any_call" and not self._made):
            return False
        return cover([each.times for each in self.expected], self._fits, ()) is not None

    def take(self, calls: Sequence[Call], effects: Collection[str]) -> list[Seen]:
        comparison = Comparison(calls, self._exam.tools, self._rules, self._exam.comparators, effects)
        alarms = Alarms(self.expectation, comparison)
        start = self._made
        for index in range(len(calls)):
            self._find_place(index, comparison)
        # Calls that were made at once may still change places among themselves.
        self._last = [self._owner.get(number) for number in range(start, self._made)]
        return [self._seen(index, place, comparison, alarms) for index, place in enumerate(self._last)]

    def answered(self, results: Sequence[Executed]) -> None:
        for place, result in zip(self._last, results, strict=False):
            if place is not None and (name := self.expected[place].name):
                self.known[name] = self.known[name]._replace(result=result)

    def _seen(self, index: int, place: int | None, comparison: Comparison, alarms: Alarms) -> Seen:
        call = comparison.calls[index]
        forbidden = any(reason.kind == "forbidden_call" for reason in alarms.of(index))
        if place is None:
            let_in = self._lets_in(index, comparison)
            self.strays += not let_in
            return Seen(call, expected=let_in, forbidden=forbidden)
        expected = self.expected[place]
        self._remember(expected, call)
        nth, self._answered[place] = self._answered[place], self._answered[place] + 1
        return Seen(call, expected.canned, nth, expected=True, forbidden=forbidden)

    def _remember(self, expected: ExpectedCall, call: Call) -> None:
        if expected.name:
            self.known[expected.name] = Named(call.arguments)

    def _find_place(self, index: int, comparison: Comparison) -> None:
        """Find out which expected call this one is, if it is one."""
        number = self._made
        self._made += 1
        wanted = [_unjudged(with_known(expected, self.known)) for expected in self.expected]
        for place, expected in enumerate(wanted):
            if comparison.mismatches(expected, index) == []:
                self._fits[place].append(number)
        demands = [(0, most) for _, most in (each.times for each in self.expected)]
        owner = cover(demands, self._fits, [*self._owner, number])
        if owner is None:
            for fitting in self._fits:
                if number in fitting:
                    fitting.remove(number)
            return
        self._owner = owner
        self._remember(self.expected[owner[number]], comparison.calls[index])

    def _lets_in(self, index: int, comparison: Comparison) -> bool:
        if comparison.is_unknown(index):
            return False
        if self.expectation.extra == "allow" or self.expectation.kind == "any_call":
            return True
        return any(comparison.pattern(pattern, index) == [] for pattern in self.expectation.allow)


def _alternatives(expectation: Expectation | None) -> list[Expectation | None]:
    if expectation is None or expectation.kind != "any_of":
        return [expectation]
    return [inherits(each, expectation) for each in expectation.alternatives]


def _unjudged(expected: ExpectedCall) -> ExpectedCall:
    """The call with all let in that a model has to judge: it is asked when everything is over, if at all."""
    judged = [name for name, value in (expected.arguments or {}).items() if _is_judged(value)]
    if not judged:
        return expected
    return replace(
        expected, arguments={**(expected.arguments or {}), **dict.fromkeys(judged, Operator("ignore", True))}
    )


def _decided(never: Sequence[CallPattern]) -> tuple[CallPattern, ...]:
    """The calls that are forbidden whatever a model that judges will say."""
    return tuple(each for each in never if not _is_judged(each.arguments))


def _is_judged(pattern: Pattern) -> bool:
    if isinstance(pattern, Operator):
        return pattern.name == "judge" or (pattern.name != "literal" and _is_judged(pattern.operand))
    if isinstance(pattern, Mapping):
        return any(map(_is_judged, pattern.values()))
    return isinstance(pattern, list | tuple) and any(map(_is_judged, pattern))

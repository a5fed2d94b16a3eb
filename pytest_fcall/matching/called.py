"""The calls that were made against those that were expected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from pytest_fcall.core.expectation import Expectation, ExpectedCall
from pytest_fcall.core.verdict import Reason
from pytest_fcall.matching.comparison import Comparison
from pytest_fcall.matching.explanation import NEVER, Weight, best_pairs
from pytest_fcall.matching.mismatch import path_text
from pytest_fcall.matching.stages import Pairs, Plan
from pytest_fcall.matching.wording import plain_name, show_expected, show_made, times

_MOST_CALLS = 256
"""A reply with more calls than this, beside those expected, is wrong as a whole; its calls are not paired."""
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Called:
    """What is wrong with the calls made, which calls are missing, and who was paired with whom."""

    wrong: tuple[Reason, ...] = ()
    missing: tuple[Reason, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()


def judge_calls(expectation: Expectation, comparison: Comparison) -> Called:
    """Judge the calls of a reply, whatever else there is to say about it."""
    made = range(len(comparison.calls))
    alarms = _Alarms(expectation, comparison)
    expected = [call for stage in expectation.stages for call in stage]
    if len(made) > _MOST_CALLS + len(expected):
        message = f"The reply makes {len(made):,} calls, too many to be judged one by one."
        too_many = Reason("wrong_count", "calls", message, got=len(made))
        return Called((too_many, *(reason for index in made for reason in alarms.of(index))))
    raised = [list(alarms.of(index)) for index in made]
    sides = _Sides(expectation, comparison, expected, [bool(each) for each in raised])
    pairs = sides.pairs()
    wrong = [reason for index in made for reason in (*raised[index], *sides.reasons(index, pairs.get(index)))]
    wrong += sides.out_of_order(pairs)
    ordered = tuple(sorted((place, index) for index, place in pairs.items()))
    return Called(tuple(wrong), tuple(sides.missing(pairs)), ordered)


class _Alarms:
    """What is wrong with a call whatever was expected: it is forbidden, or its tool does not exist."""

    def __init__(self, expectation: Expectation, comparison: Comparison) -> None:
        self.never = (*expectation.never, *comparison.rules.never)
        self.comparison = comparison

    def of(self, index: int) -> Iterator[Reason]:
        name = self.comparison.calls[index].name
        if self.comparison.is_unknown(index):
            message = f"`{plain_name(name)}` is not one of the tools offered{self._suggestion(name)}"
            yield Reason("unknown_tool", f"calls[{index}]", message, got=name)
        for pattern in self.never:
            found = self.comparison.pattern(pattern, index)
            if found is not None and all(each.undecided for each in found):
                why = f", unless this says otherwise: {found[0].message}" if found else ""
                message = f"{show_made(self.comparison.calls[index])} must never be called{why}"
                yield Reason("forbidden_call", f"calls[{index}]", message, got=name)
                return

    def _suggestion(self, name: str) -> str:
        near = get_close_matches(name, self.comparison.offered, 1) if len(name) <= _LONGEST_NAME else []
        return f"; did the model mean `{near[0]}`?" if near else ""


class _Sides:
    """Expected calls on one side, calls made on the other."""

    def __init__(
        self,
        expectation: Expectation,
        comparison: Comparison,
        expected: Sequence[ExpectedCall],
        alarmed: Sequence[bool],
    ) -> None:
        self.expectation = expectation
        self.alarmed = alarmed
        self.comparison = comparison
        self.expected = expected
        self.made = range(len(comparison.calls))
        self.findings = [[comparison.mismatches(each, index) for index in self.made] for each in expected]
        self.excused = frozenset(filter(self._is_excused, self.made))
        self.stage_of = _stages(expectation)

    def pairs(self) -> Pairs:
        """Pair so that nothing is left to say, or else so that least is."""
        if (
            len(self.made) == 1
            and [each.times for each in self.expected] == [(1, 1)]
            and self.findings[0][0] is not None
        ):
            return {0: 0}
        demands = [each.times for each in self.expected]
        fits = [[index for index, found in enumerate(row) if found == []] for row in self.findings]
        musts = frozenset(self.made) - self.excused
        exact = Plan(self._groups(), demands, fits, musts, len(self.made)).pairs()
        if exact is not None:
            return exact
        counts = [[None if found is None else len(found) for found in row] for row in self.findings]
        return best_pairs(demands, counts, [self._weight(index) for index in self.made])

    def reasons(self, index: int, place: int | None) -> Iterator[Reason]:
        """What is wrong with a call in the place that it was given."""
        path, call = f"calls[{index}]", self.comparison.calls[index]
        found = self.comparison.by_schema(index) if place is None else self.findings[place][index]
        if place is None and index not in self.excused:
            if self.alarmed[index]:
                return
            yield Reason("unexpected_call", path, self._unexpected(index), got=call.name)
        elif found is not None:
            for each in found:
                where = f"{path}.{path_text(('args', *each.keys))}"
                yield Reason(each.kind, where, each.message, each.expected, each.got)
        elif place is not None and not self.comparison.is_unknown(index):
            wanted = self.expected[place]
            message = f"{show_made(call)} was called, expected {show_expected(wanted)}"
            yield Reason("wrong_tool", path, message, wanted.tool, call.name)

    def missing(self, pairs: Pairs) -> Iterator[Reason]:
        """The expected calls that were not made often enough."""
        if self.expectation.kind == "any_call" and not self.made:
            yield Reason("no_call", "calls", "No call was made, and some call was expected.")
        lacking = [each for each in self.expected if each.times[0] > 0]
        if lacking and not self.made:
            names = " and ".join(show_expected(each) for each in lacking[:3]) + (" …" if len(lacking) > 3 else "")
            yield Reason("no_call", "calls", f"No call was made, expected {names}")
            return
        for place, wanted in enumerate(self.expected):
            count, (fewest, most) = sum(served == place for served in pairs.values()), wanted.times
            if count < fewest:
                least = "" if most == fewest == 1 else f", expected {'at least ' * (most != fewest)}{times(fewest)}"
                often = f"called {times(count)} only" if count else "not called"
                message = f"{show_expected(wanted)} was {often}{least}"
                yield Reason("wrong_count", f"expected[{place}]", message, fewest, count)

    def out_of_order(self, pairs: Pairs) -> Iterator[Reason]:
        """The calls that came before one which they must come after."""
        stages = {
            index: self.stage_of[place] for index, place in pairs.items() if self.findings[place][index] is not None
        }
        for index, stage in sorted(stages.items()):
            later = next((other for other in self.made[index:] if stages.get(other, stage) < stage), None)
            if later is not None:
                early, late = (show_made(self.comparison.calls[each]) for each in (index, later))
                message = f"{early} was called before {late} (calls[{later}]), expected after it"
                yield Reason("wrong_order", f"calls[{index}]", message)

    def _weight(self, index: int) -> Weight:
        if self.comparison.is_unknown(index):
            return Weight(alone=0, instead=0)
        if index in self.excused:
            return Weight(alone=len(self.comparison.by_schema(index)), instead=NEVER)
        return Weight(alone=0, instead=NEVER) if self.alarmed[index] else Weight()

    def _unexpected(self, index: int) -> str:
        call = show_made(self.comparison.calls[index])
        if any(row[index] == [] for row in self.findings):
            return f"{call} was called more often than expected"
        if not self.expected:
            return f"{call} was called, and no call was expected"
        return f"{call} was called, but not expected"

    def _is_excused(self, index: int) -> bool:
        if self.expectation.extra == "allow" or self.expectation.kind == "any_call":
            return True
        return any(self.comparison.pattern(pattern, index) == [] for pattern in self.expectation.allow)

    def _groups(self) -> list[list[int]]:
        groups: dict[int, list[int]] = {}
        for place, stage in enumerate(self.stage_of):
            groups.setdefault(stage, []).append(place)
        return list(groups.values())


def _stages(expectation: Expectation) -> list[int]:
    """The stage of each expected call; in a strict order every call is a stage of its own."""
    if expectation.order == "strict":
        return list(range(sum(map(len, expectation.stages))))
    return [number for number, stage in enumerate(expectation.stages) for _ in stage]

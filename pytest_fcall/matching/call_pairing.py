"""The pairing of calls with expected calls: one that leaves nothing to say, or else the one that explains best."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.verdict import ReasonKind
from pytest_fcall.matching.assignment import Demand, cheapest_assignment, covering_assignment
from pytest_fcall.matching.call_comparison import CallComparison
from pytest_fcall.matching.place import Mismatch

Pairs: TypeAlias = Mapping[int, int]
"""The index of each call made -> that of the expected call that it serves."""


@dataclass(frozen=True, slots=True)
class StagedPairing:
    """Expected calls and the calls that fit each of them, by index.

    `stages` are the expected calls in groups; `musts` are the calls made that nothing excuses.
    """

    stages: Sequence[Sequence[int]]
    demands: Sequence[Demand]
    fits: Sequence[Sequence[int]]
    musts: Collection[int]
    made: int

    def pairs(self) -> Pairs | None:
        """Give a pairing that satisfies everything, or None where there is none.

        The calls made are cut into as many runs as there are stages, each run serving its own stage. `reached`
        holds every place where the stages so far can end, with one way to get there.
        """
        reached: dict[int, Pairs] = {0: {}}
        for number, stage in enumerate(self.stages, 1):
            last = number == len(self.stages)
            following: dict[int, Pairs] = {}
            for start, so_far in reached.items():
                for end in [self.made] if last else self._ends(stage, start):
                    if end not in following and (found := self._serve(stage, start, end)) is not None:
                        following[end] = {**so_far, **found}
            reached = following
        return reached.get(self.made) if self.stages else (None if self.musts else {})

    def _ends(self, stage: Sequence[int], start: int) -> Iterator[int]:
        """Where a stage that begins at `start` may end: before the first call that can have no place in it."""
        fitting = {call for expected in stage for call in self.fits[expected]}
        yield start
        for call in range(start, self.made):
            if call in self.musts and call not in fitting:
                return
            yield call + 1

    def _serve(self, stage: Sequence[int], start: int, end: int) -> Pairs | None:
        demands = [self.demands[expected] for expected in stage]
        fits = [[call for call in self.fits[expected] if start <= call < end] for expected in stage]
        found = covering_assignment(demands, fits, [call for call in range(start, end) if call in self.musts])
        return None if found is None else {call: stage[demand] for call, demand in found.items()}


_ARGUMENT_KINDS: tuple[ReasonKind, ...] = (
    *("missing_argument", "unexpected_argument", "wrong_type", "wrong_value", "schema"),
)
_CALL_KINDS: tuple[ReasonKind, ...] = ("wrong_tool", "unexpected_call", "wrong_count")
_BITS = 24
"""Room for as many reasons of one kind as a pairing can have."""
_KIND_COSTS: Mapping[ReasonKind, int] = MappingProxyType(
    {kind: 1 << (_BITS * index) for index, kind in enumerate((*_ARGUMENT_KINDS, *_CALL_KINDS))}
)
_REASON_COST = 1 << (_BITS * len(_KIND_COSTS))
"""What one reason costs, whatever its kind; the digits below tell apart pairings with as many reasons.

So two pairings that cost the same give the same kinds of reasons, and the order of the calls, which then decides, has
no say in what is told.
"""
OUT_OF_ORDER_COST = _REASON_COST * 3 // 4
"""The cost of a call in the place of one of another group: two that changed places are explained by that, and not by
what is otherwise in each; one thing that is otherwise is not explained by two calls that changed places."""
_REASONS_PER_CALL = 1_000
"""A reason about a whole call costs more than all that can be wrong with its arguments."""
FORBIDDEN_COST = _REASON_COST * 1_000_000
"""The cost of what would explain nothing."""
_MAX_STEPS = 2_000_000
"""Beyond this the best pairing is not worth its wait, and a good one is taken."""


def mismatch_cost(found: Sequence[Mismatch]) -> int:
    """What it costs to explain what is wrong inside a call."""
    return min(len(found), _REASONS_PER_CALL - 1) * _REASON_COST + sum(_KIND_COSTS.get(each.kind, 0) for each in found)


def _cost_of_call(kind: ReasonKind, times: int = 1) -> int:
    return _REASONS_PER_CALL * _REASON_COST + times * _KIND_COSTS[kind]


@dataclass(frozen=True, slots=True)
class CallCost:
    """What it costs to leave a call alone, and to put it in the place of a call of another tool."""

    alone: int = _cost_of_call("unexpected_call")
    instead: int = _cost_of_call("wrong_tool")


def best_pairs(demands: Sequence[Demand], costs: Sequence[Sequence[int | None]], weights: Sequence[CallCost]) -> Pairs:
    """Pair calls with expected calls so that least is left to explain.

    `costs[e][c]` is that of call `c` as expected call `e`; None is another tool. `weights` has one item a call. Where
    several pairings are as good, the one that keeps the order of the calls is taken.
    """
    made = len(weights)
    slots = [slot for expected, row in enumerate(costs) for slot in _call_slots(expected, demands[expected], row)]
    fine = len(slots) * made + 1
    table: list[list[int]] = []
    for rank, (expected, empty) in enumerate(slots):
        near = rank * made // len(slots)
        row: list[int] = []
        for call, (cost, weight) in enumerate(zip(costs[expected], weights, strict=True)):
            instead = weight.instead if empty else FORBIDDEN_COST
            row.append(fine * ((instead if cost is None else cost) - weight.alone) + abs(near - call))
        table.append(row + [fine * empty] * len(slots))
    chosen = cheapest_assignment(table) if len(slots) ** 2 * (made + len(slots)) <= _MAX_STEPS else _greedy(table)
    return {call: slots[rank][0] for rank, call in enumerate(chosen) if call < made}


def _call_slots(expected: int, demand: Demand, row: Sequence[int | None]) -> list[tuple[int, int]]:
    """The places that an expected call has, each with what it costs to leave it empty.

    That it was made too seldom is one reason however much is missing, so no two of its places cost the same.
    """
    fewest, most = demand
    same_tool = sum(cost is not None for cost in row)
    free = max(0, (same_tool if most is None else min(most, same_tool)) - fewest)
    needed = [(expected, _cost_of_call("wrong_count", nth)) for nth in range(1, min(fewest, len(row)) + 1)]
    return needed + [(expected, 0)] * free


def _greedy(costs: Sequence[Sequence[int]]) -> list[int]:
    """Give each row in turn what it gains most by; the last column of a row is what leaving it alone costs."""
    chosen: dict[int, int] = {}
    taken: set[int] = set()
    cells = ((cost - line[-1], row, column) for row, line in enumerate(costs) for column, cost in enumerate(line))
    for _, row, column in sorted(cells):
        if row not in chosen and column not in taken:
            chosen[row] = column
            taken.add(column)
    return [chosen[row] for row in range(len(costs))]


class CallPairing:
    """Who can go with whom, and what there is to say of each.

    `alarmed` says of each call whether something is wrong with it whatever was expected.
    """

    def __init__(self, expectation: Expectation, comparison: CallComparison, alarmed: Sequence[bool]) -> None:
        self.comparison = comparison
        self.alarmed = alarmed
        self.expected = [call for stage in expectation.stages for call in stage]
        self.stage_of = _stage_numbers(expectation)
        """The number of each expected call's stage; in a strict order every call is a stage of its own."""
        self.made = range(len(comparison.calls))
        self.excused = frozenset(index for index in self.made if _is_excused(expectation, comparison, index))
        """The calls that need not be expected."""
        self._findings = [[comparison.mismatches(each, index) for index in self.made] for each in self.expected]

    def findings(self, index: int, place: int | None) -> list[Mismatch] | None:
        """What is wrong inside a call in the place of an expected call, or in none; None where it is another tool."""
        return self.comparison.by_schema(index) if place is None else self._findings[place][index]

    def fits_somewhere(self, index: int) -> bool:
        """Whether a call is just what some expected call asks for."""
        return any(row[index] == [] for row in self._findings)

    def pairs(self) -> Pairs:
        """Pair so that nothing is left to say, or else so that least is."""
        demands = [each.times for each in self.expected]
        if demands == [(1, 1)] and len(self.made) == 1 and self._findings[0][0] is not None:
            return {0: 0}
        fits = [[index for index, found in enumerate(row) if found == []] for row in self._findings]
        musts = frozenset(self.made) - self.excused
        exact = StagedPairing(self._groups(), demands, fits, musts, len(self.made)).pairs()
        if exact is not None:
            return exact
        by_place = self._stages_by_place() if len(set(self.stage_of)) > 1 else None
        costs = [
            [
                None
                if found is None
                else mismatch_cost(found) + (OUT_OF_ORDER_COST if by_place and by_place[call] != stage else 0)
                for call, found in enumerate(row)
            ]
            for stage, row in zip(self.stage_of, self._findings, strict=True)
        ]
        return best_pairs(demands, costs, [self._weight(index) for index in self.made])

    def _stages_by_place(self) -> list[int]:
        """The stage that each call belongs to if they were made in order."""
        places = [stage for stage, each in zip(self.stage_of, self.expected, strict=True) for _ in range(each.times[0])]
        places = places or [0]
        return [places[min(call, len(places) - 1)] for call in self.made]

    def _groups(self) -> list[list[int]]:
        groups: dict[int, list[int]] = {}
        for place, stage in enumerate(self.stage_of):
            groups.setdefault(stage, []).append(place)
        return list(groups.values())

    def _weight(self, index: int) -> CallCost:
        if self.comparison.is_unknown(index):
            return CallCost(alone=0, instead=0)
        if index in self.excused:
            return CallCost(alone=mismatch_cost(self.comparison.by_schema(index)), instead=FORBIDDEN_COST)
        return CallCost(alone=0, instead=FORBIDDEN_COST) if self.alarmed[index] else CallCost()


def _is_excused(expectation: Expectation, comparison: CallComparison, index: int) -> bool:
    if expectation.extra == "allow" or expectation.kind == "any_call":
        return True
    return any(comparison.pattern(pattern, index) == [] for pattern in expectation.allow)


def _stage_numbers(expectation: Expectation) -> list[int]:
    if expectation.order == "strict":
        return list(range(sum(map(len, expectation.stages))))
    return [number for number, stage in enumerate(expectation.stages) for _ in stage]

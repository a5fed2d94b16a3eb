"""The pairing of calls with expected calls: one that satisfies everything, or else the one that explains best."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.verdict import Reason, ReasonKind
from pytest_fcall.matching.assignment import Demand, cheapest_assignment, covering_assignment
from pytest_fcall.matching.call_comparison import CallComparison, CallFindings
from pytest_fcall.matching.place import Mismatch
from pytest_fcall.matching.wording import call_text, expected_call_text, times_text

Pairs: TypeAlias = Mapping[int, int]
"""The index of each call -> that of the expected call that it is paired with."""

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
"""The cost of one reason of any kind; the lower bits order pairings with equally many reasons by their kinds.

So two pairings of the same cost give the same kinds of reasons, and the order of the calls, which then decides, does
not change the report.
"""
_OUT_OF_ORDER_COST = _REASON_COST * 3 // 4
"""The cost of a call in the place of one of another stage. Two calls that changed places are explained by their order
rather than by what differs in each; a single difference is not explained by two calls that changed places."""
_REASONS_PER_CALL = 1_000
"""A reason about a whole call costs more than all that can be wrong with its arguments."""
FORBIDDEN_COST = _REASON_COST * 1_000_000
"""The cost of a pair that would explain nothing."""
_MAX_STEPS = 2_000_000
"""If finding the best pairing takes more steps, a good one is taken."""


def _mismatch_cost(found: Sequence[Mismatch]) -> int:
    """The cost of explaining the mismatches inside a call."""
    return min(len(found), _REASONS_PER_CALL - 1) * _REASON_COST + sum(_KIND_COSTS[each.kind] for each in found)


def _cost_of_call(kind: ReasonKind, times: int) -> int:
    return _REASONS_PER_CALL * _REASON_COST + times * _KIND_COSTS[kind]


class CallCost(NamedTuple):
    """The costs of leaving a call unpaired, and of pairing it with an expected call of another tool."""

    unpaired: int = _cost_of_call("unexpected_call", 1)
    wrong_tool: int = _cost_of_call("wrong_tool", 1)


def pair_and_explain(
    expectation: Expectation, comparison: CallComparison, unconditional: Sequence[Sequence[Reason]]
) -> CallFindings:
    """Pair the calls with the expected ones and report all that is wrong.

    `unconditional` has the reasons against each call that hold whatever is expected.
    """
    pairing = _CallPairing(expectation, comparison, [bool(each) for each in unconditional])
    pairs = pairing.pairs()
    wrong: list[Reason] = []
    for index, reasons in enumerate(unconditional):
        wrong += reasons
        wrong += _call_reasons(pairing, index, pairs.get(index))
    wrong += _order_reasons(pairing, pairs)
    missing = _count_reasons(pairing, pairs) if comparison.calls else _no_call_reasons(expectation, pairing)
    ordered = tuple(sorted((place, index) for index, place in pairs.items()))
    return CallFindings(tuple(wrong), tuple(missing), ordered)


class _CallPairing:
    """The calls of a reply, the expected calls, and all mismatches between them.

    `flagged` holds for each call whether something is wrong with it whatever is expected.
    """

    def __init__(self, expectation: Expectation, comparison: CallComparison, flagged: Sequence[bool]) -> None:
        self.comparison = comparison
        self.flagged = flagged
        self.expected = [call for stage in expectation.stages for call in stage]
        self.stage_of = _stage_numbers(expectation)
        """The number of each expected call's stage; in a strict order every call is a stage of its own."""
        self.call_indices = range(len(comparison.calls))
        self.optional_calls = frozenset(
            index for index in self.call_indices if _is_optional(expectation, comparison, index)
        )
        """The calls that are allowed without being expected."""
        self._mismatches = [
            [comparison.mismatches(each, index) for index in self.call_indices] for each in self.expected
        ]

    def mismatches_at(self, index: int, place: int | None) -> list[Mismatch] | None:
        """The mismatches with the expected call at `place`, or with the schema alone; None for another tool."""
        return self.comparison.schema_mismatches(index) if place is None else self._mismatches[place][index]

    def matches_any(self, index: int) -> bool:
        """Whether a call is exactly one of the expected calls."""
        return any(row[index] == [] for row in self._mismatches)

    def pairs(self) -> Pairs:
        """Pair so that nothing is wrong, or else so that the reasons are fewest."""
        demands = [each.times for each in self.expected]
        if demands == [(1, 1)] and len(self.call_indices) == 1 and self._mismatches[0][0] is not None:
            return {0: 0}
        fits = [[index for index, found in enumerate(row) if found == []] for row in self._mismatches]
        required = frozenset(self.call_indices) - self.optional_calls
        exact = _StagedPairing(self._stages(), demands, fits, required, len(self.call_indices)).pairs()
        if exact is not None:
            return exact
        stages_in_order = self._stages_in_order()
        costs = [
            [
                None if found is None else _mismatch_cost(found) + (_OUT_OF_ORDER_COST if in_order != stage else 0)
                for in_order, found in zip(stages_in_order, row, strict=True)
            ]
            for stage, row in zip(self.stage_of, self._mismatches, strict=True)
        ]
        return best_pairs(demands, costs, [self._cost(index) for index in self.call_indices])

    def _stages_in_order(self) -> list[int]:
        """The stage that each call belongs to if they were made in the expected order."""
        stages = [stage for stage, each in zip(self.stage_of, self.expected, strict=True) for _ in range(each.times[0])]
        stages = stages or [0]
        return [stages[min(call, len(stages) - 1)] for call in self.call_indices]

    def _stages(self) -> list[list[int]]:
        stages: dict[int, list[int]] = {}
        for place, stage in enumerate(self.stage_of):
            stages.setdefault(stage, []).append(place)
        return list(stages.values())

    def _cost(self, index: int) -> CallCost:
        if self.comparison.is_unknown(index):
            return CallCost(unpaired=0, wrong_tool=0)
        if index in self.optional_calls:
            unpaired = _mismatch_cost(self.comparison.schema_mismatches(index))
            return CallCost(unpaired=unpaired, wrong_tool=FORBIDDEN_COST)
        return CallCost(unpaired=0, wrong_tool=FORBIDDEN_COST) if self.flagged[index] else CallCost()


def _is_optional(expectation: Expectation, comparison: CallComparison, index: int) -> bool:
    if expectation.extra == "allow" or expectation.kind == "any_call":
        return True
    return any(comparison.pattern_mismatches(pattern, index) == [] for pattern in expectation.allow)


def _stage_numbers(expectation: Expectation) -> list[int]:
    if expectation.order == "strict":
        return list(range(sum(map(len, expectation.stages))))
    return [number for number, stage in enumerate(expectation.stages) for _ in stage]


class _StagedPairing(NamedTuple):
    """Expected calls and the calls that fit each of them, by index.

    `stages` are the expected calls in groups; `required` are the calls that must be paired.
    """

    stages: Sequence[Sequence[int]]
    demands: Sequence[Demand]
    fits: Sequence[Sequence[int]]
    required: Collection[int]
    call_count: int

    def pairs(self) -> Pairs | None:
        """A pairing that satisfies everything, or None where there is none.

        The calls are cut into as many runs as there are stages, and each run is paired with its own stage. `reached`
        holds every index where the stages so far can end, with one pairing that leads there.
        """
        reached: dict[int, Pairs] = {0: {}}
        for number, stage in enumerate(self.stages, 1):
            is_last = number == len(self.stages)
            following: dict[int, Pairs] = {}
            for start, so_far in reached.items():
                for end in [self.call_count] if is_last else self._ends(stage, start):
                    if end not in following and (found := self._pair_run(stage, start, end)) is not None:
                        following[end] = {**so_far, **found}
            reached = following
        return reached.get(self.call_count)

    def _ends(self, stage: Sequence[int], start: int) -> Iterator[int]:
        """The possible ends of a stage from `start` on, up to the first required call that cannot belong to it."""
        fitting = {call for expected in stage for call in self.fits[expected]}
        yield start
        for call in range(start, self.call_count):
            if call in self.required and call not in fitting:
                return
            yield call + 1

    def _pair_run(self, stage: Sequence[int], start: int, end: int) -> Pairs | None:
        demands = [self.demands[expected] for expected in stage]
        fits = [[call for call in self.fits[expected] if start <= call < end] for expected in stage]
        found = covering_assignment(demands, fits, [call for call in range(start, end) if call in self.required])
        return None if found is None else {call: stage[demand] for call, demand in found.items()}


def best_pairs(
    demands: Sequence[Demand], costs: Sequence[Sequence[int | None]], call_costs: Sequence[CallCost]
) -> Pairs:
    """Pair calls with expected calls so that the sum of costs is least.

    `costs[e][c]` is the cost of call `c` as expected call `e`, None for another tool. `call_costs` has one item a
    call. Of several pairings that cost the same, the one that keeps the order of the calls is taken.
    """
    count = len(call_costs)
    slots = [slot for expected, row in enumerate(costs) for slot in _call_slots(expected, demands[expected], row)]
    scale = len(slots) * count + 1
    table: list[list[int]] = []
    for rank, (expected, empty) in enumerate(slots):
        near = rank * count // len(slots)
        row: list[int] = []
        for call, (cost, call_cost) in enumerate(zip(costs[expected], call_costs, strict=True)):
            wrong_tool = call_cost.wrong_tool if empty else FORBIDDEN_COST
            row.append(scale * ((wrong_tool if cost is None else cost) - call_cost.unpaired) + abs(near - call))
        table.append(row + [scale * empty] * len(slots))
    steps = len(slots) ** 2 * (count + len(slots))
    chosen = cheapest_assignment(table) if steps <= _MAX_STEPS else _greedy(table, count)
    return {call: slots[rank][0] for rank, call in enumerate(chosen) if call < count}


def _call_slots(expected: int, demand: Demand, row: Sequence[int | None]) -> list[tuple[int, int]]:
    """The slots of an expected call, each with the cost of leaving it empty.

    An expected call that is made too seldom gives one reason however many calls are missing, so no two slots cost the
    same.
    """
    fewest, most = demand
    same_tool = sum(cost is not None for cost in row)
    free = max(0, (same_tool if most is None else min(most, same_tool)) - fewest)
    needed = [(expected, _cost_of_call("wrong_count", nth)) for nth in range(1, min(fewest, len(row)) + 1)]
    return needed + [(expected, 0)] * free


def _greedy(costs: Sequence[Sequence[int]], count: int) -> list[int]:
    """Give each row the column that saves it most, the largest saving first.

    Each of the first `count` columns is given once, all others leave a row unpaired, and what costs more than these
    is not given.
    """
    chosen: dict[int, int] = {}
    taken: set[int] = set()
    cells = (
        (cost - line[-1], row, column)
        for row, line in enumerate(costs)
        for column, cost in enumerate(line[:count])
        if cost <= line[-1]
    )
    for _, row, column in sorted(cells):
        if row not in chosen and column not in taken:
            chosen[row] = column
            taken.add(column)
    return [chosen.get(row, count) for row in range(len(costs))]


def _call_reasons(pairing: _CallPairing, index: int, place: int | None) -> Iterator[Reason]:
    """Report the mismatches of a call with the expected call at `place`, beside the unconditional reasons."""
    path, call = f"calls[{index}]", pairing.comparison.calls[index]
    if place is None and index not in pairing.optional_calls:
        if not pairing.flagged[index]:
            message = f"{call_text(call)} was called{_why_unexpected(pairing, index)}"
            yield Reason("unexpected_call", path, message, got=call.name)
    elif (found := pairing.mismatches_at(index, place)) is not None:
        for mismatch in found:
            yield mismatch.as_reason(above=("calls", index, "args"))
    elif place is not None and not pairing.comparison.is_unknown(index):
        expected = pairing.expected[place]
        message = f"{call_text(call)} was called, expected {expected_call_text(expected)}"
        yield Reason("wrong_tool", path, message, expected.tool, call.name)


def _why_unexpected(pairing: _CallPairing, index: int) -> str:
    if not pairing.expected:
        return ", and no call was expected"
    return " more often than expected" if pairing.matches_any(index) else ", but not expected"


def _order_reasons(pairing: _CallPairing, pairs: Pairs) -> Iterator[Reason]:
    """Report the calls that were made before one of an earlier stage."""
    if len(set(pairing.stage_of)) < 2:
        return
    right_tool = {index: place for index, place in pairs.items() if pairing.mismatches_at(index, place) is not None}
    stages = {index: pairing.stage_of[place] for index, place in sorted(right_tool.items())}
    for index, stage in stages.items():
        later = next((other for other in pairing.call_indices[index:] if stages.get(other, stage) < stage), None)
        if later is not None:
            early, late = (call_text(pairing.comparison.calls[each]) for each in (index, later))
            message = f"{early} was called before {late} (calls[{later}]), expected after it"
            yield Reason("wrong_order", f"calls[{index}]", message)


def _no_call_reasons(expectation: Expectation, pairing: _CallPairing) -> Iterator[Reason]:
    """Report a reply without calls where some are expected."""
    required = [expected_call_text(each) for each in pairing.expected if each.times[0] > 0]
    if expectation.kind == "any_call":
        yield Reason("no_call", "calls", "No call was made, and some call was expected")
    elif required:
        names = " and ".join([*required[:3], "…"] if len(required) > 3 else required)
        yield Reason("no_call", "calls", f"No call was made, expected {names}")


def _count_reasons(pairing: _CallPairing, pairs: Pairs) -> Iterator[Reason]:
    """Report the expected calls that were not made often enough."""
    places = list(pairs.values())
    for place, expected in enumerate(pairing.expected):
        count, (fewest, most) = places.count(place), expected.times
        if count < fewest:
            again = " again" if _is_made_elsewhere(pairing, place, places) else ""
            often = f"called {times_text(count)} only" if count else f"not called{again}"
            wanted = "" if most == fewest == 1 else f", expected {'at least ' * (most != fewest)}{times_text(fewest)}"
            message = f"{expected_call_text(expected)} was {often}{wanted}"
            yield Reason("wrong_count", f"expected[{place}]", message, fewest, count)


def _is_made_elsewhere(pairing: _CallPairing, place: int, places: Collection[int]) -> bool:
    """Whether a call that is expected at several places was made for another of them."""
    expected = pairing.expected[place]
    others = (pairing.expected[other] for other in places)
    return any((each.tool, each.arguments) == (expected.tool, expected.arguments) for each in others)

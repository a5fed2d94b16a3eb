"""The pairing that explains a failure best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pytest_fcall.core.verdict import ReasonKind
from pytest_fcall.matching.mismatch import Mismatch
from pytest_fcall.matching.pairing import Demand, cheapest
from pytest_fcall.matching.stages import Pairs

_IN_A_CALL: tuple[ReasonKind, ...] = (
    *("missing_argument", "unexpected_argument", "wrong_type", "wrong_value", "schema"),
)
_OF_A_CALL: tuple[ReasonKind, ...] = ("wrong_tool", "unexpected_call", "wrong_count")
_BITS = 24
"""Room for as many reasons of one kind as a pairing can have."""
_DIGITS: Mapping[ReasonKind, int] = MappingProxyType(
    {kind: 1 << (_BITS * index) for index, kind in enumerate((*_IN_A_CALL, *_OF_A_CALL))}
)
_REASON = 1 << (_BITS * len(_DIGITS))
"""What one reason costs, whatever its kind; the digits below tell apart pairings with as many reasons.

So two pairings that cost the same give the same kinds of reasons, and the order of the calls, which then decides, has
no say in what is told.
"""
OUT_OF_ORDER = _REASON * 3 // 4
"""The cost of a call in the place of one of another group: two that changed places are explained by that, and not by
what is otherwise in each; one thing that is otherwise is not explained by two calls that changed places."""
_WHOLE_CALL = 1_000
"""A reason about a whole call costs more than all that can be wrong with its arguments."""
NEVER = _REASON * 1_000_000
"""The cost of what would explain nothing."""
_MOST_STEPS = 2_000_000
"""Beyond this the best pairing is not worth its wait, and a good one is taken."""


def cost_of(found: Sequence[Mismatch]) -> int:
    """What it costs to explain what is wrong inside a call."""
    return min(len(found), _WHOLE_CALL - 1) * _REASON + sum(_DIGITS.get(each.kind, 0) for each in found)


def _cost_of_call(kind: ReasonKind, times: int = 1) -> int:
    return _WHOLE_CALL * _REASON + times * _DIGITS[kind]


@dataclass(frozen=True, slots=True)
class Weight:
    """What it costs to leave a call alone, and to put it in the place of a call of another tool."""

    alone: int = _cost_of_call("unexpected_call")
    instead: int = _cost_of_call("wrong_tool")


def best_pairs(demands: Sequence[Demand], costs: Sequence[Sequence[int | None]], weights: Sequence[Weight]) -> Pairs:
    """Pair calls with expected calls so that least is left to explain.

    `costs[e][c]` is that of call `c` as expected call `e`; None is another tool. `weights` has one item a call. Where
    several pairings are as good, the one that keeps the order of the calls is taken.
    """
    made = len(weights)
    slots = [slot for expected, row in enumerate(costs) for slot in _slots(expected, demands[expected], row)]
    fine = len(slots) * made + 1
    table: list[list[int]] = []
    for rank, (expected, empty) in enumerate(slots):
        near = rank * made // len(slots)
        row: list[int] = []
        for call, (cost, weight) in enumerate(zip(costs[expected], weights, strict=True)):
            instead = weight.instead if empty else NEVER
            row.append(fine * ((instead if cost is None else cost) - weight.alone) + abs(near - call))
        table.append(row + [fine * empty] * len(slots))
    chosen = cheapest(table) if len(slots) ** 2 * (made + len(slots)) <= _MOST_STEPS else _greedy(table)
    return {call: slots[rank][0] for rank, call in enumerate(chosen) if call < made}


def _slots(expected: int, demand: Demand, row: Sequence[int | None]) -> list[tuple[int, int]]:
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

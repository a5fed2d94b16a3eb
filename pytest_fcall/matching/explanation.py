"""The pairing that explains a failure best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fcall.core.verdict import ReasonKind
from pytest_fcall.matching.mismatch import Mismatch
from pytest_fcall.matching.pairing import Demand, cheapest
from pytest_fcall.matching.stages import Pairs

WHOLE_CALL = 1_000
"""What a finding about a whole call weighs: more than all that can be wrong with its arguments."""
NEVER = 1_000_000
"""The weight of what would explain nothing."""
_KINDS: tuple[ReasonKind, ...] = (
    *("missing_argument", "unexpected_argument", "wrong_type", "wrong_value", "schema", "wrong_order"),
)
_KIND_BITS = 24
"""Room for as many findings of one kind as a pairing can have."""
_KINDS_ROOM = 1 << (_KIND_BITS * (len(_KINDS) + 1))
_MOST_STEPS = 2_000_000
"""Beyond this the best pairing is not worth its wait, and a good one is taken."""


@dataclass(frozen=True, slots=True)
class Weight:
    """What there is to say of a call that is left alone, and of one that stands in for a call of another tool."""

    alone: int = WHOLE_CALL
    instead: int = WHOLE_CALL


def cost_of(found: Sequence[Mismatch]) -> int:
    """What it costs to explain these findings: their number, and among as many, one order of their kinds.

    So that what is said of a reply does not depend on the order of its calls.
    """
    kinds = sum(1 << (_KIND_BITS * _KINDS.index(each.kind)) for each in found if each.kind in _KINDS)
    return min(len(found), WHOLE_CALL - 1) * _KINDS_ROOM + kinds


def best_pairs(demands: Sequence[Demand], findings: Sequence[Sequence[int | None]], weights: Sequence[Weight]) -> Pairs:
    """Pair calls with expected calls so that least is left to explain.

    `findings[e][c]` is the cost of what is wrong with call `c` as expected call `e`; None is another tool.
    `weights` has one item a call. Where several pairings are as good, the one that keeps the order of the calls is taken.
    """
    made = len(weights)
    slots = [slot for expected, row in enumerate(findings) for slot in _slots(expected, demands[expected], row)]
    fine = len(slots) * made + 1
    costs: list[list[int]] = []
    for rank, (expected, required) in enumerate(slots):
        near = rank * made // len(slots)
        row: list[int] = []
        for call, (count, weight) in enumerate(zip(findings[expected], weights, strict=True)):
            instead = weight.instead if required else NEVER
            price = instead * _KINDS_ROOM if count is None else count
            row.append(fine * (price - weight.alone * _KINDS_ROOM) + abs(near - call))
        costs.append(row + [fine * WHOLE_CALL * _KINDS_ROOM * required] * len(slots))
    chosen = cheapest(costs) if len(slots) ** 2 * (made + len(slots)) <= _MOST_STEPS else _greedy(costs)
    return {call: slots[rank][0] for rank, call in enumerate(chosen) if call < made}


def _slots(expected: int, demand: Demand, row: Sequence[int | None]) -> list[tuple[int, bool]]:
    """The places that an expected call has, each with whether it must be filled."""
    fewest, most = demand
    same_tool = sum(count is not None for count in row)
    free = max(0, (same_tool if most is None else min(most, same_tool)) - fewest)
    return [(expected, True)] * min(fewest, len(row)) + [(expected, False)] * free


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

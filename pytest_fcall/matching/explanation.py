"""The pairing that explains a failure best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.matching.pairing import Demand, cheapest
from pytest_fcall.matching.stages import Pairs

_ALONE = 1_001
_WRONG_TOOL = 1_000
"""One call in the place of another: worse than any number of wrong arguments, better than two calls alone."""
_NEVER = 1_000_000
_MOST_STEPS = 2_000_000
"""Beyond this the best pairing is not worth its wait, and a good one is taken."""


def best_pairs(
    demands: Sequence[Demand], findings: Sequence[Sequence[int | None]], excused: Mapping[int, int], made: int
) -> Pairs:
    """Pair calls with expected calls so that least is left to explain.

    `findings[e][c]` counts what is wrong with call `c` as expected call `e`; None is another tool. `excused` are
    the calls that need no place, each with what is wrong with it even so. Where several pairings are as good,
    the one that keeps the order in which the calls were listed is taken.
    """
    slots = [slot for expected, row in enumerate(findings) for slot in _slots(expected, demands[expected], row, made)]
    alone = [excused.get(call, _ALONE) for call in range(made)]
    fine = len(slots) * made + 1
    costs: list[list[int]] = []
    for rank, (expected, required) in enumerate(slots):
        near = rank * made // len(slots)
        row: list[int] = []
        for call, count in enumerate(findings[expected]):
            other_tool = _WRONG_TOOL if required and call not in excused else _NEVER
            price = other_tool if count is None else min(count, _WRONG_TOOL - 1)
            row.append(fine * (price - alone[call]) + abs(near - call))
        costs.append(row + [fine * _ALONE * required] * len(slots))
    chosen = cheapest(costs) if len(slots) ** 2 * (made + len(slots)) <= _MOST_STEPS else _greedy(costs)
    return {call: slots[rank][0] for rank, call in enumerate(chosen) if call < made}


def _slots(expected: int, demand: Demand, row: Sequence[int | None], made: int) -> list[tuple[int, bool]]:
    """The places that an expected call has, each with whether it must be filled."""
    fewest, most = demand
    same_tool = sum(count is not None for count in row)
    free = max(0, (same_tool if most is None else min(most, same_tool)) - fewest)
    return [(expected, True)] * min(fewest, made) + [(expected, False)] * free


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

"""The pairing that explains a failure best."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pytest_fcall.matching.pairing import Demand, cheapest
from pytest_fcall.matching.stages import Pairs

_ALONE = 1_001
_WRONG_TOOL = 1_000
"""One call in the place of another: worse than any number of wrong arguments, better than two calls alone."""
_NEVER = 1_000_000
_MOST_STEPS = 2_000_000
"""Beyond this the best pairing is not worth its wait, and a good one is taken."""


def best_pairs(
    demands: Sequence[Demand], findings: Sequence[Sequence[int | None]], excused: Collection[int], made: int
) -> Pairs:
    """Pair calls with expected calls so that least is left to explain.

    `findings[e][c]` counts what is wrong with call `c` as expected call `e`; None is another tool. Where several
    pairings are as good, the one that keeps the order in which the calls were listed is taken.
    """
    slots = [slot for expected, row in enumerate(findings) for slot in _slots(expected, demands[expected], row, made)]
    # Leaving a call alone is a finding too, unless something excuses it: pairing it saves that.
    saved = [0 if call in excused else _ALONE for call in range(made)]
    fine = len(slots) * made + 1
    costs: list[list[int]] = []
    for rank, (expected, required) in enumerate(slots):
        instead = [_WRONG_TOOL if required and saving else _NEVER for saving in saved]
        prices = [
            other if count is None else min(count, _WRONG_TOOL - 1)
            for count, other in zip(findings[expected], instead, strict=True)
        ]
        row = [
            fine * (price - saving) + abs(rank - call)
            for call, (price, saving) in enumerate(zip(prices, saved, strict=True))
        ]
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
    chosen: dict[int, int] = {}
    taken: set[int] = set()
    for _, row, column in sorted(
        (cost, row, column) for row, line in enumerate(costs) for column, cost in enumerate(line)
    ):
        if row not in chosen and column not in taken:
            chosen[row] = column
            taken.add(column)
    return [chosen[row] for row in range(len(costs))]

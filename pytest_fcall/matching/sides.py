"""Expected calls on one side, calls made on the other."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcall.core.expectation import Expectation
from pytest_fcall.matching.comparison import Comparison
from pytest_fcall.matching.explanation import NEVER, OUT_OF_ORDER, Weight, best_pairs, cost_of
from pytest_fcall.matching.mismatch import Mismatch
from pytest_fcall.matching.stages import Pairs, Plan


class Sides:
    """Who can go with whom, and what there is to say of each.

    `alarmed` says of each call whether something is wrong with it whatever was expected.
    """

    def __init__(self, expectation: Expectation, comparison: Comparison, alarmed: Sequence[bool]) -> None:
        self.comparison = comparison
        self.alarmed = alarmed
        self.expected = [call for stage in expectation.stages for call in stage]
        self.stage_of = _stages(expectation)
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
        exact = Plan(self._groups(), demands, fits, musts, len(self.made)).pairs()
        if exact is not None:
            return exact
        by_place = self._stages_by_place() if len(set(self.stage_of)) > 1 else None
        costs = [
            [
                None
                if found is None
                else cost_of(found) + (OUT_OF_ORDER if by_place and by_place[call] != stage else 0)
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

    def _weight(self, index: int) -> Weight:
        if self.comparison.is_unknown(index):
            return Weight(alone=0, instead=0)
        if index in self.excused:
            return Weight(alone=cost_of(self.comparison.by_schema(index)), instead=NEVER)
        return Weight(alone=0, instead=NEVER) if self.alarmed[index] else Weight()


def _is_excused(expectation: Expectation, comparison: Comparison, index: int) -> bool:
    if expectation.extra == "allow" or expectation.kind == "any_call":
        return True
    return any(comparison.pattern(pattern, index) == [] for pattern in expectation.allow)


def _stages(expectation: Expectation) -> list[int]:
    if expectation.order == "strict":
        return list(range(sum(map(len, expectation.stages))))
    return [number for number, stage in enumerate(expectation.stages) for _ in stage]

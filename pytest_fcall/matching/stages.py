"""Pairings that keep an order: groups of expected calls, each after all before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pytest_fcall.matching.pairing import Demand, cover

Pairs: TypeAlias = Mapping[int, int]
"""The index of each call made -> that of the expected call that it serves."""


@dataclass(frozen=True, slots=True)
class Plan:
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
        found = cover(demands, fits, [call for call in range(start, end) if call in self.musts])
        return None if found is None else {call: stage[demand] for call, demand in found.items()}

"""Assignments in bipartite graphs: covering ones by augmenting paths, and the cheapest by the Hungarian method."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

Demand: TypeAlias = tuple[int, int | None]
"""The fewest and the most items that a demand takes; None is no upper bound."""


def covering_assignment(
    demands: Sequence[Demand], fits: Sequence[Sequence[int]], required: Collection[int]
) -> dict[int, int] | None:
    """Give every demand enough of the items that fit it, and every required item a demand.

    `fits[d]` are the items that fit demand `d`; an item serves one demand. Returns item -> demand, or None where
    there is no such assignment. Two rounds of augmenting paths find it if it exists, since what the first round has
    covered stays covered in the second (Mendelsohn and Dulmage).
    """
    found = _AugmentingPaths(demands, fits, frozenset(required))
    satisfied = all(found.satisfy(demand) for demand, (fewest, _) in enumerate(demands) for _ in range(fewest))
    if satisfied and all(item in found.owner or found.assign(item) for item in required):
        return found.owner
    return None


def cheapest_assignment(costs: Sequence[Sequence[int]]) -> list[int]:
    """Give each row a column of its own so that the sum of costs is least.

    There must be at least as many columns as rows. The Hungarian method with potentials takes time in proportion to
    the square of the rows times the columns.
    """
    found = _HungarianMethod(costs)
    for row in range(len(costs)):
        found.add(row)
    column_of = {row: column for column, row in found.row_of.items()}
    return [column_of[row] for row in range(len(costs))]


class _HungarianMethod:
    """A cheapest matching that grows by one row at a time."""

    def __init__(self, costs: Sequence[Sequence[int]]) -> None:
        self.costs = costs
        self.width = max(map(len, costs), default=0)
        self.row_of: dict[int, int] = {}
        self.row_potential = [0] * len(costs)
        self.column_potential = [0] * self.width

    def add(self, row: int) -> None:
        """Add a row along the path that costs least, a shortest path by reduced costs."""
        free = dict.fromkeys(range(self.width))
        reached: list[int] = []
        came_from: dict[int, int | None] = {}
        slack: dict[int, int] = {}
        current, last = row, None
        while True:
            base = self.row_potential[current]
            for column in free:
                reduced = self.costs[current][column] - base - self.column_potential[column]
                if column not in slack or reduced < slack[column]:
                    slack[column], came_from[column] = reduced, last
            last = min(free, key=slack.__getitem__)
            self._shift(row, reached, free, slack, slack[last])
            del free[last]
            if last not in self.row_of:
                break
            reached.append(last)
            current = self.row_of[last]
        while (before := came_from[last]) is not None:
            self.row_of[last] = self.row_of[before]
            last = before
        self.row_of[last] = row

    def _shift(self, row: int, reached: list[int], free: Iterable[int], slack: dict[int, int], step: int) -> None:
        self.row_potential[row] += step
        for column in reached:
            self.row_potential[self.row_of[column]] += step
            self.column_potential[column] -= step
        for column in free:
            slack[column] -= step


class _AugmentingPaths:
    """A matching that grows by one augmenting path at a time."""

    def __init__(self, demands: Sequence[Demand], fits: Sequence[Sequence[int]], required: frozenset[int]) -> None:
        self.demands = demands
        self.fits = fits
        self.required = required
        self.owner: dict[int, int] = {}
        self.takers: dict[int, list[int]] = {}
        for demand, items in enumerate(fits):
            for item in items:
                self.takers.setdefault(item, []).append(demand)

    def satisfy(self, start: int) -> bool:
        """Give a demand one more item, if need be one that another demand can replace."""
        queue = deque([start])
        gives_up: dict[int, int | None] = {start: None}
        wanted_by: dict[int, int] = {}
        while queue:
            demand = queue.popleft()
            for item in self.fits[demand]:
                if item in wanted_by or self.owner.get(item) == demand:
                    continue
                wanted_by[item] = demand
                holder = self.owner.get(item)
                if holder is None:
                    chain: int | None = item
                    while chain is not None:
                        self.owner[chain] = wanted_by[chain]
                        chain = gives_up[wanted_by[chain]]
                    return True
                if holder not in gives_up:
                    gives_up[holder] = item
                    queue.append(holder)
        return False

    def assign(self, start: int) -> bool:
        """Find a demand for an item; an item that is not required may lose its own for it."""
        queue = deque([start])
        offered: dict[int, int] = {}
        while queue:
            item = queue.popleft()
            for demand in self.takers.get(item, ()):
                if demand in offered:
                    continue
                offered[demand] = item
                most = self.demands[demand][1]
                held = [] if most is None else [other for other, owner in self.owner.items() if owner == demand]
                if most is None or len(held) < most:
                    self._reassign(start, demand, offered)
                    return True
                if (spare := next((other for other in held if other not in self.required), None)) is not None:
                    del self.owner[spare]
                    self._reassign(start, demand, offered)
                    return True
                queue.extend(held)
        return False

    def _reassign(self, start: int, demand: int, offered: dict[int, int]) -> None:
        while True:
            item = offered[demand]
            leaves = self.owner.get(item)
            self.owner[item] = demand
            if item == start or leaves is None:
                return
            demand = leaves

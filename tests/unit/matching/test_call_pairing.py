"""Matchings, against trying everything."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.matching import call_pairing
from pytest_fcall.matching.assignment import Demand, cheapest_assignment, covering_assignment
from pytest_fcall.matching.call_pairing import FORBIDDEN_COST, CallCost, best_pairs
from tests.unit.matching.language import judged

COLUMNS = 5


@given(st.lists(st.lists(st.integers(-20, 20), min_size=COLUMNS, max_size=COLUMNS), max_size=COLUMNS))
def test_the_cheapest_assignment_is_as_cheap_as_the_best_of_all(costs: list[list[int]]) -> None:
    chosen = cheapest_assignment(costs)
    assert len(set(chosen)) == len(costs)
    best = min(
        sum(row[column] for row, column in zip(costs, columns, strict=True))
        for columns in permutations(range(COLUMNS), len(costs))
    )
    assert sum(row[column] for row, column in zip(costs, chosen, strict=True)) == best


demands = st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 2))).map(
    lambda pair: (pair[0], None if pair[1] is None else pair[0] + pair[1])
)


@given(st.lists(demands, max_size=3), st.data())
def test_a_cover_is_found_exactly_where_there_is_one(wanted: list[Demand], data: st.DataObject) -> None:
    items = range(data.draw(st.integers(0, 5)))
    fits = [sorted(data.draw(st.sets(st.sampled_from(items)))) if items else [] for _ in wanted]
    musts = data.draw(st.sets(st.sampled_from(items))) if items else set()

    def holds(owners: tuple[int | None, ...]) -> bool:
        counts = [owners.count(demand) for demand in range(len(wanted))]
        return (
            all(owner is None or item in fits[owner] for item, owner in enumerate(owners))
            and all(owners[item] is not None for item in musts)
            and all(few <= n and (most is None or n <= most) for n, (few, most) in zip(counts, wanted, strict=True))
        )

    found = covering_assignment(wanted, fits, musts)
    assert (found is not None) is any(map(holds, product([None, *range(len(wanted))], repeat=len(items))))
    if found is not None:
        assert holds(tuple(found.get(item) for item in items))


def test_a_call_that_must_be_paired_takes_the_place_of_one_that_need_not() -> None:
    assert covering_assignment([(1, 1)], [[0, 1]], [1]) == {1: 0}
    assert covering_assignment([(1, 1), (1, 1)], [[0, 1], [1, 2]], [0, 2]) == {0: 0, 2: 1}


def test_many_calls_are_right_although_the_first_that_fits_is_needed_elsewhere() -> None:
    made, expected = [], []
    for number in range(0, 120, 2):
        made += [{"any": {"x": number}}, {"any": {"x": number + 1}}]
        expected += [{"any": {"x": {"$any": [number, number + 1]}}}, {"any": {"x": number}}]
    assert judged(made, expected).valid


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_a_failure_is_explained_with_as_few_findings_as_can_be(findings: list[list[int]]) -> None:
    pairs = best_pairs([(1, 1)] * 3, findings, [CallCost()] * 3)
    told = sum(findings[expected][call] for call, expected in pairs.items())
    assert told == min(sum(findings[e][c] for e, c in enumerate(calls)) for calls in permutations(range(3)))


def test_equally_good_pairs_keep_the_order_of_the_calls() -> None:
    assert best_pairs([(1, 1)] * 4, [[1] * 4] * 4, [CallCost()] * 4) == {0: 0, 1: 1, 2: 2, 3: 3}


def test_of_very_many_calls_not_every_pairing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_pairing, "cheapest_assignment", None)
    many = 200
    costs = [[2 * (expected != call) for call in range(many)] for expected in range(many)]
    assert best_pairs([(1, 1)] * many, costs, [CallCost()] * many) == {each: each for each in range(many)}


def test_an_optional_place_is_never_filled_by_another_tool() -> None:
    assert best_pairs([(0, 3)], [[None, 2]], [CallCost()] * 2) == {1: 0}


def test_a_call_that_is_excused_is_left_alone_rather_than_blamed() -> None:
    assert best_pairs([(1, 1)], [[None]], [CallCost(unpaired=0, wrong_tool=FORBIDDEN_COST)]) == {}


@pytest.mark.parametrize("size", [40, 200])
def test_large_replies_are_explained_in_good_time(size: int) -> None:
    findings = [[(row * column) % 7 + 1 for column in range(size)] for row in range(size)]
    assert len(best_pairs([(1, 1)] * size, findings, [CallCost()] * size)) == size

from __future__ import annotations

from collections.abc import Callable, Generator
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.bisection.search import Cause, Causes, Fails, Trial, fewest_trials, find_causes

World = Callable[[Trial], Fails]


class Searched:
    """A search among so many edits, and the trials that it took."""

    def __init__(self, world: World, edits: int, likely: tuple[Trial, ...] = (), most: int = 10_000) -> None:
        everything = frozenset(range(edits))
        self.known: dict[Trial, Fails] = {frozenset(): False, everything: True}
        self.asked: list[Trial] = []
        self.causes = Causes()
        search: Generator[Trial, Fails, Causes] = find_causes(everything, self.causes, self.known, likely)
        answer: Fails = None
        try:
            trial = next(search)
            while True:
                if trial not in self.known:
                    self.asked.append(trial)
                    self.known[trial] = world(trial) if len(self.asked) <= most else None
                answer = self.known[trial]
                trial = search.send(answer)
        except StopIteration:
            pass

    @property
    def found(self) -> list[set[int]]:
        return [{*cause.edits} for cause in self.causes.found]


def failing_with(*guilty: set[int]) -> World:
    """The case fails with all edits of any of these sets."""
    return lambda trial: any(each <= trial for each in guilty)


def minimal_sets(world: World, edits: int) -> list[set[int]]:
    """By trying everything: the sets that fail, and do not without any one of their edits."""
    return [
        {*chosen}
        for size in range(1, edits + 1)
        for chosen in combinations(range(edits), size)
        if world(frozenset(chosen)) and not any(world(frozenset(chosen) - {each}) for each in chosen)
    ]


EDITS = st.integers(1, 7)
WORLDS = EDITS.flatmap(
    lambda edits: st.tuples(
        st.just(edits), st.lists(st.sets(st.integers(0, edits - 1), min_size=1, max_size=3), min_size=1, max_size=3)
    )
)


@given(WORLDS)
def test_each_set_that_is_found_is_one_that_trying_everything_finds(world: tuple[int, list[set[int]]]) -> None:
    edits, guilty = world
    fails = failing_with(*guilty)
    searched = Searched(fails, edits)
    sets = minimal_sets(fails, edits)
    assert all(found in sets for found in searched.found)
    assert all(cause.is_exact for cause in searched.causes.found)
    everything = frozenset(range(edits))
    assert searched.causes.rest_passes is True
    assert not fails(everything.difference(*searched.found))


@given(EDITS, st.randoms(use_true_random=False))
def test_where_edits_also_mend_what_is_found_fails_and_nothing_in_it_can_be_left_out(
    edits: int, random: object
) -> None:
    table: dict[Trial, bool] = {frozenset(): False, frozenset(range(edits)): True}

    def fails(trial: Trial) -> bool:
        return table.setdefault(trial, random.random() < 0.5)  # type: ignore[attr-defined]  # a Random

    for found in Searched(fails, edits).found:
        assert fails(frozenset(found))
        assert not any(fails(frozenset(found) - {each}) for each in found)


@given(WORLDS, st.randoms(use_true_random=False))
def test_where_some_trials_cannot_be_judged_nothing_wrong_is_called_exact(
    world: tuple[int, list[set[int]]], random: object
) -> None:
    edits, guilty = world
    fails = failing_with(*guilty)

    def sometimes(trial: Trial) -> Fails:
        return None if random.random() < 0.4 else fails(trial)  # type: ignore[attr-defined]

    searched = Searched(sometimes, edits)
    sets = minimal_sets(fails, edits)
    for cause in searched.causes.found:
        assert not cause.is_exact or {*cause.edits} in sets
        assert any(each <= cause.edits for each in sets)


@given(WORLDS, st.integers(0, 6))
def test_when_nothing_more_may_be_asked_the_candidates_that_are_left_hold_a_cause(
    world: tuple[int, list[set[int]]], most: int
) -> None:
    edits, guilty = world
    fails = failing_with(*guilty)
    searched = Searched(fails, edits, most=most)
    assert any(each <= searched.causes.found[0].edits for each in minimal_sets(fails, edits))


def test_one_guilty_edit_among_many_takes_few_trials() -> None:
    for guilty in range(100):
        searched = Searched(failing_with({guilty}), 100)
        assert searched.found == [{guilty}]
        assert len(searched.asked) <= fewest_trials(100) == 9


def test_two_edits_that_are_harmless_alone_are_one_cause() -> None:
    searched = Searched(failing_with({3, 77}), 100)
    assert searched.causes.found == [Cause((frozenset({3}), frozenset({77})))]
    assert {frozenset({3}), frozenset({77})} <= {*searched.asked}
    assert len(searched.asked) <= 19


def test_what_explains_another_case_is_tried_first() -> None:
    searched = Searched(failing_with({42}), 100, likely=(frozenset({7}), frozenset({42, 100})))
    assert searched.asked == [{7}, {42}, {*range(100)} - {42}]


def test_edits_that_each_suffice_are_all_found() -> None:
    assert Searched(failing_with({3}, {7}, {1, 9}), 10).found == [{3}, {7}, {1, 9}]

"""Whether verdicts flip more often in variants than when the same question is asked again."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.flips import VariedCase, flips_of, least_p_value, noise_of, p_value_flips

FLIPPED = VariedCase(True, Rate(2, 2), Rate(0, 1))
KEPT = VariedCase(True, Rate(2, 2), Rate(1, 1))


def rates(most: int) -> st.SearchStrategy[Rate]:
    return st.integers(1, most).flatmap(lambda asked: st.integers(0, asked).map(lambda right: Rate(right, asked)))


def counted(cases: list[VariedCase]) -> float:
    """The p-value by listing all ways to deal the answers."""

    def pairs(own: Rate, varied: Rate) -> int:
        return own.right * (varied.asked - varied.right) + (own.asked - own.right) * varied.right

    observed = sum(pairs(case.own, case.varied) for case in cases)
    total = 0.0
    options = []
    for case in cases:
        right, own, varied = case.own.right + case.varied.right, case.own.asked, case.varied.asked
        ways = [
            (pairs(Rate(right - taken, own), Rate(taken, varied)), comb(varied, taken) * comb(own, right - taken))
            for taken in range(varied + 1)
            if 0 <= right - taken <= own
        ]
        whole = sum(weight for _, weight in ways)
        options.append([(found, weight / whole) for found, weight in ways])
    for dealt in product(*options):
        if sum(found for found, _ in dealt) >= observed:
            chance = 1.0
            for _, weight in dealt:
                chance *= weight
            total += chance
    return total


@given(st.lists(st.tuples(st.booleans(), rates(4), rates(3)).map(lambda each: VariedCase(*each)), max_size=4))
def test_the_p_value_is_that_of_all_ways_to_deal_the_answers(cases: list[VariedCase]) -> None:
    assert p_value_flips(cases) == pytest.approx(counted(cases))
    assert p_value_flips(cases) >= least_p_value(cases) * (1 - 1e-9)


def test_clean_flips_beside_steady_repetitions_are_fragile() -> None:
    (found,) = flips_of({"typos": [FLIPPED] * 3 + [KEPT] * 20})
    assert (found.word, found.to_wrong, found.to_right, found.noise) == ("fragile", 3, 0, 0)
    assert found.p_value == pytest.approx((1 / 3) ** 3)
    assert found.rate == pytest.approx(3 / 23)


def test_more_relations_want_more_flips() -> None:
    found = flips_of({f"r{number}": [FLIPPED] * 3 + [KEPT] * 20 for number in range(5)})
    assert {each.word for each in found} == {"not above the noise"}


def test_flips_in_both_directions_count() -> None:
    better = VariedCase(False, Rate(0, 2), Rate(1, 1))
    (found,) = flips_of({"typos": [FLIPPED] * 5 + [better] * 5})
    assert (found.word, found.to_wrong, found.to_right) == ("fragile", 5, 5)


def test_flips_that_repetitions_have_as_well_are_noise() -> None:
    wavering = [VariedCase(True, Rate(1, 2), Rate(0, 1)), VariedCase(True, Rate(1, 2), Rate(1, 1))]
    (found,) = flips_of({"typos": wavering * 10})
    assert (found.word, found.rate, found.noise) == ("not above the noise", 0.5, 1.0)


def test_of_few_cases_or_without_repetitions_nothing_can_be_said() -> None:
    assert flips_of({"typos": [FLIPPED]})[0].word == "too few to say"
    alone = VariedCase(True, Rate(1, 1), Rate(0, 1))
    (found,) = flips_of({"typos": [alone] * 100})
    assert (found.word, found.p_value, found.noise) == ("too few to say", 1.0, None)
    assert flips_of({"typos": []}) == []


def test_noise_is_the_chance_that_two_answers_differ() -> None:
    assert noise_of([Rate(1, 2), Rate(2, 2)]) == 0.5
    assert noise_of([Rate(2, 4)]) == pytest.approx(2 / 3)
    assert noise_of([Rate(1, 1)]) is None

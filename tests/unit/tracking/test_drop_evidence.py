from __future__ import annotations

from itertools import product
from math import comb, exp, isclose, prod

import pytest

from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.drop_evidence import FALLS, RISES, OddsChange, evidence_of, log_factor, most_changed, total
from pytest_fcall.tracking.significance import RatePair


def answers_by_chance(before: int, now: int, rate: float) -> list[tuple[float, RatePair]]:
    """All answers of an unchanged case, with their probabilities."""
    return [
        (
            comb(before, old) * comb(now, new) * rate ** (old + new) * (1 - rate) ** (before + now - old - new),
            RatePair(Rate(old, before), Rate(new, now)),
        )
        for old in range(before + 1)
        for new in range(now + 1)
    ]


@pytest.mark.parametrize("rates", [(0.5,), (0.97,), (0.9, 0.2), (1.0, 0.6, 0.0)])
@pytest.mark.parametrize("changes", [FALLS, RISES])
def test_a_bet_that_nothing_changed_is_fair_whatever_the_rates_are(
    rates: tuple[float, ...], changes: tuple[OddsChange, ...]
) -> None:
    worlds = product(
        *(answers_by_chance(before, now, rate) for rate, before, now in zip(rates, (5, 3, 1), (2, 1, 3), strict=False))
    )
    mean = sum(
        prod(chance for chance, _ in world) * evidence_of([pair for _, pair in world], changes) for world in worlds
    )
    assert isclose(mean, 1.0, rel_tol=1e-9)


@pytest.mark.parametrize(("whole", "asked", "right"), [(6, 2, 3), (9, 4, 8), (4, 4, 2)])
def test_it_is_fair_given_how_many_are_right_in_all(whole: int, asked: int, right: int) -> None:
    ways = [
        (comb(right, now) * comb(whole - right, asked - now) / comb(whole, asked), now)
        for now in range(max(0, asked - (whole - right)), min(asked, right) + 1)
    ]
    mean = sum(way * exp(log_factor(right - now, whole - asked, now, asked, 0.2)) for way, now in ways)
    assert isclose(mean, 1.0)


def test_lost_cases_are_evidence_and_steady_ones_none() -> None:
    steady, lost = RatePair(Rate(20, 20), Rate(3, 3)), RatePair(Rate(20, 20), Rate(0, 3))
    assert evidence_of([steady] * 50, FALLS) == 1.0
    assert evidence_of([*[steady] * 49, lost], FALLS) > 4
    assert evidence_of([*[steady] * 45, *[lost] * 5], FALLS) > 1e6
    assert evidence_of([lost], RISES) < 1


@pytest.mark.parametrize("change", FALLS)
def test_no_bet_on_a_fall_wins_by_a_rise(change: OddsChange) -> None:
    risen = RatePair(Rate(0, 2), Rate(2, 2))
    assert evidence_of([risen] * 20, [change]) < 1 < evidence_of([RatePair(Rate(2, 2), Rate(0, 2))] * 20, [change])


def test_a_rise_is_a_fall_of_wrong_answers() -> None:
    pairs = [RatePair(Rate(8, 10), Rate(1, 3)), RatePair(Rate(2, 10), Rate(2, 2))]
    wrong = [
        RatePair(*(Rate(rate.asked - rate.right, rate.asked) for rate in (pair.before, pair.now))) for pair in pairs
    ]
    assert isclose(evidence_of(pairs, RISES), evidence_of(wrong, FALLS))


def test_much_evidence_stays_a_number() -> None:
    assert evidence_of([RatePair(Rate(900, 900), Rate(0, 300))] * 500, FALLS) < 1e280


def test_the_plainest_changes_come_first() -> None:
    pairs = [
        ("a", RatePair(Rate(9, 10), Rate(1, 2))),
        ("b", RatePair(Rate(20, 20), Rate(0, 2))),
        ("c", RatePair(Rate(5, 10), Rate(2, 2))),
    ]
    assert [name for name, _ in most_changed(pairs, falls=True)] == ["b", "a"]
    assert [name for name, _ in most_changed(pairs, falls=False)] == ["c"]


def test_the_answers_to_several_cases_are_counted_together() -> None:
    assert total([Rate(1, 2), Rate(3, 4)]) == Rate(4, 6)
    assert total([]) == Rate(0, 0)

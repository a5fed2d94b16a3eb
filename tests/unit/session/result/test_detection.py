from __future__ import annotations

from random import Random
from typing import Final

import pytest

from benchmarks.noisy_models import rates_of
from pytest_fcall.core.verdict import Rate
from pytest_fcall.session.result.detection import Design, Detection, KnownCase, approximate_p_value
from pytest_fcall.tracking.significance import RatePair, p_value_worse, weigh_alike, weigh_by_steadiness

STEADY: Final = KnownCase(Rate(20, 20), Rate(20, 20))


def realistic(cases: int, asked: int, seed: int) -> tuple[KnownCase, ...]:
    """What is known of a model of the page on statistics after so many runs."""
    random = Random(seed)  # noqa: S311  # nothing is secret here
    found = [
        Rate(sum(random.random() < rate for _ in range(asked)), asked) for rate in rates_of("realistic", cases, random)
    ]
    return tuple(KnownCase(each, each) for each in found)


def mean_power(asked: int, drop: float) -> float:
    suites = [realistic(100, asked, seed) for seed in range(6)]
    return sum(Detection(cases).power(Design(cases), "each", drop, 60) for cases in suites) / len(suites)


def test_what_it_says_is_what_the_page_on_statistics_measured() -> None:
    """There ten points that each case loses are seen in 72 % of runs after two, in 87 % after five, in 94 % after ten.

    After one nothing shows how steady the cases are: the assumption decides, and it is not that world's.
    """
    assert [mean_power(asked, 0.1) for asked in (2, 5, 10)] == pytest.approx([0.72, 0.87, 0.94], abs=0.08)


def test_unchanged_models_are_seldom_called_worse() -> None:
    cases = realistic(100, 10, 1)
    assert Detection(cases).power(Design(cases), "each", 0.0, 300) < 0.03


def test_it_counts_that_cases_vary() -> None:
    """A steady suite sees what one of the same accuracy does not whose cases are right now and wrong then."""
    steady = (*(STEADY,) * 36, *(KnownCase(Rate(0, 20), Rate(0, 20)),) * 4)
    varying = (KnownCase(Rate(18, 20), Rate(18, 20)),) * 40
    powers = [Detection(cases).power(Design(cases), "each", 0.05, 200) for cases in (steady, varying)]
    assert powers[0] > powers[1] + 0.2
    assert Detection(steady).varying(steady) < 0.05
    assert Detection(varying).varying(varying) > 0.9


def test_a_lost_case_is_seen_by_its_own_test() -> None:
    cases = (STEADY,) * 20
    assert Detection(cases).power_for_lost(Design(cases), 1, 50) == 1.0


def test_more_samples_and_a_gate_see_more() -> None:
    cases = realistic(50, 10, 2)
    detection = Detection(cases)
    once, often = (detection.power(Design(cases, samples), "each", 0.06, 100) for samples in (1, 5))
    gated = detection.power(Design(cases, level=0.05), "each", 0.06, 100)
    assert once < often
    assert once < gated


def test_a_drop_is_as_large_as_it_says() -> None:
    cases = (STEADY,) * 200
    detection = Detection(cases)
    assert detection.accuracy(cases) > 0.99
    assert detection.power(Design(cases), "some", 0.0, 20) < 0.2
    assert detection.power(Design(cases), "some", 0.05, 20) == 1.0


@pytest.mark.parametrize("weight", [weigh_alike, weigh_by_steadiness])
@pytest.mark.parametrize("seed", range(6))
def test_approximate_p_values_are_close_where_they_are_used(weight: object, seed: int) -> None:
    random = Random(seed)  # noqa: S311  # nothing is secret here
    weigh = weigh_alike if weight is weigh_alike else weigh_by_steadiness
    pairs = []
    for known in realistic(600, 10, seed):
        rate = known.first.share * (0.97 - 0.01 * seed)
        pairs.append(RatePair(known.first, Rate(int(random.random() < rate), 1)))
    exact = p_value_worse(pairs, weigh)
    kinds = [pair for pair in pairs if 0 < pair.before.right + pair.now.right < pair.before.asked + pair.now.asked]
    assert approximate_p_value(kinds, weigh) == pytest.approx(exact, rel=0.25, abs=2e-5)

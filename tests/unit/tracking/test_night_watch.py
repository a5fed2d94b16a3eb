from __future__ import annotations

from itertools import product
from math import isclose
from random import Random

import numpy as np
import pytest

from benchmarks import nights as simulation
from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.night_watch import (
    LOOKS,
    MOST_KEPT,
    Night,
    Nights,
    Watch,
    judged_nights,
    pairs_of,
    restarted_watch,
    stake_of,
)
from tests.by_night import by_night

VERSION = ("prompt", "expectation")


def night(number: int, right: str, version: tuple[str, str] = VERSION) -> Night:
    """A night: `1` is a right answer, `0` a wrong one, and `-` no answer, case by case."""
    answers = {("a.fc.yaml", f"c{n}"): (version, Rate(int(each), 1)) for n, each in enumerate(right) if each != "-"}
    return Night(f"202611{number // 24 + 1:02}-{number % 24:02}0000-0000", answers)


def watched(nights: list[Night], level: float = 0.05) -> Watch:
    return judged_nights(Watch(), nights, level)[0]


def noisy(count: int, cases: int = 5, seed: int = 1) -> list[Night]:
    random = Random(seed)  # noqa: S311  # nothing is secret here
    return [night(n, "".join(random.choice("1110") for _ in range(cases))) for n in range(count)]


def test_no_more_is_staked_than_there_is() -> None:
    parts = [stake_of(number) for number in range(2, 20_000)]
    assert 0.5 < sum(parts) < 1
    assert parts == sorted(parts, reverse=True)


@pytest.mark.parametrize(("cases", "count", "rate"), [(1, 8, 0.5), by_night(1, 8, 0.9), by_night(2, 5, 0.8)])
def test_the_mean_of_the_evidence_is_what_was_staked_and_never_more_than_one(
    cases: int, count: int, rate: float
) -> None:
    """All series of answers that an unchanged model can give."""
    mean = 0.0
    for answers in product("01", repeat=cases * count):
        chance = rate ** answers.count("1") * (1 - rate) ** answers.count("0")
        rows = ["".join(answers[place : place + cases]) for place in range(0, cases * count, cases)]
        mean += chance * watched([night(n, row) for n, row in enumerate(rows)]).fall
    staked = sum(
        stake_of(until - look + 1) / len(LOOKS)
        for until in range(1, count + 1)
        for look in LOOKS
        if until - look + 1 >= 2
    )
    assert isclose(mean, staked, rel_tol=1e-9)
    assert mean < 1


def test_evidence_never_shrinks() -> None:
    found = watched(noisy(40))
    assert [each.fall for each in found.judged] == sorted(each.fall for each in found.judged)


def test_night_after_night_gives_what_all_at_once_gives_and_order_does_not_matter() -> None:
    nights = noisy(30)
    step = Watch()
    for count in range(1, 31):
        step = judged_nights(step, nights[:count], 0.05)[0]
    assert step == watched(nights) == watched(nights[::-1])
    assert judged_nights(step, nights, 0.05) == (step, [])


def test_an_alarm_is_raised_once_and_names_the_night() -> None:
    nights = [*[night(n, "1" * 20) for n in range(20)], *[night(n, "1" * 16 + "0000") for n in range(20, 30)]]
    found = watched(nights)
    assert nights[20].run <= found.alarm <= nights[22].run
    assert found.best_fall.began == nights[20].run
    assert judged_nights(found, [*nights, night(30, "0" * 20)], 0.05)[0].alarm == found.alarm


def test_a_rise_raises_no_alarm() -> None:
    found = watched([*[night(n, "11110000") for n in range(20)], *[night(n, "1" * 8) for n in range(20, 40)]])
    assert found.alarm == ""
    assert found.fall < 1
    assert found.rise > 20


def test_an_acknowledged_change_is_measured_anew() -> None:
    nights = [*[night(n, "1" * 20) for n in range(10)], *[night(n, "0" * 20) for n in range(10, 40)]]
    anew = restarted_watch(watched(nights[:12]))
    found, late = judged_nights(anew, nights, 0.05)
    assert (found.alarm, found.nights, late) == ("", 28, [])


def test_an_edited_case_leaves_the_pairs() -> None:
    before = [night(n, "1" * 10) for n in range(20)]
    edited = [night(n, "0" * 10, ("prompt", "another")) for n in range(20, 30)]
    assert watched([*before, *edited]).alarm == ""
    assert watched([*before, *[night(n, "0" * 10) for n in range(20, 30)]]).alarm


def test_a_case_that_is_new_or_gone_or_missing_for_a_night_disturbs_nothing() -> None:
    steady = watched([night(n, "1" * 10) for n in range(30)])
    nights = [night(n, "1" * 10 + ("00" if n > 9 else "") if n % 3 else "1" * 5 + "-" * 5) for n in range(30)]
    assert isclose(watched(nights).fall, steady.fall)


def test_a_run_that_comes_late_is_told_and_left_out() -> None:
    nights = noisy(10)
    first = watched([*nights[:4], *nights[5:]])
    assert judged_nights(first, nights, 0.05) == (first, [nights[4].run])


def test_nights_that_are_used_no_more_are_not_called_late() -> None:
    nights = [night(n, "11") for n in range(MOST_KEPT + 20)]
    found = watched(nights)
    assert (found.nights, len(found.judged)) == (MOST_KEPT + 20, MOST_KEPT)
    assert judged_nights(found, nights, 0.05) == (found, [])


def test_nights_whose_files_are_gone_make_the_evidence_smaller_and_no_other() -> None:
    nights = [*[night(n, "1" * 10) for n in range(20)], *[night(n, "1" * 5 + "0" * 5) for n in range(20, 24)]]
    known = watched(nights[:20])
    whole, part = judged_nights(known, nights, 0.05)[0], judged_nights(known, nights[10:], 0.05)[0]
    assert whole.nights == part.nights == 24
    assert known.fall < part.fall < whole.fall
    assert part.best_fall.began == nights[20].run


def test_what_changed_is_told_of_all_nights_since() -> None:
    nights = [*[night(n, "11") for n in range(4)], *[night(n, "10") for n in range(4, 7)]]
    pairs = dict(pairs_of(watched(nights), nights, nights[4].run))
    assert pairs["a.fc.yaml", "c1"].now == Rate(0, 3)
    assert pairs["a.fc.yaml", "c1"].before == Rate(4, 4)


def test_the_simulation_does_what_the_watch_does() -> None:
    random = np.random.default_rng(3)
    found = simulation.answers(simulation.mixed(6, 0.3, 0.4, 1.0)(random, 3), 150, random)
    evidence = simulation.evidence_by_night(found)
    for series in range(3):
        rows = ["".join("01"[int(each)] for each in row) for row in found[series]]
        trail = [each.fall for each in watched([night(n, row) for n, row in enumerate(rows)]).judged]
        assert np.allclose(trail, evidence[series], rtol=1e-3)


def test_false_alarms_are_as_rare_as_promised_and_losses_are_seen() -> None:
    found = simulation.false_alarms(simulation.WORLDS["20 steady"], "each night its own luck", 300)
    assert found.watch <= 0.05
    assert found.naive > 0.5
    assert simulation.delay("each case a little, 10 points", 30, 20, nights=10).median <= 5


def test_only_cases_that_were_answered_before_and_since_are_held_against_each_other() -> None:
    nights = Nights()
    for number, right in enumerate(("1-1", "0-1", "-11"), start=1):
        nights.add(number, night(number, right))
    found = {case: (pair.before, pair.now) for (_, case), pair in nights.pairs(3, 3)}
    assert found == {"c2": ((2, 2), (1, 1))}
    found = {case: (pair.before, pair.now) for (_, case), pair in nights.pairs(2, 3)}
    assert found == {"c0": ((1, 1), (0, 1)), "c2": ((1, 1), (2, 2))}

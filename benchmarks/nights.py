"""How often `fcall history --watch` raises a false alarm over a year of nights, and how soon it sees a loss.

Thousands of models are simulated at once. The arithmetic of `tracking.drop_evidence` is written down here once more,
for arrays; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from pytest_fcall.tracking.drop_evidence import FALLS, OddsChange
from pytest_fcall.tracking.night_watch import LOOKS, MOST_BEFORE, stake_of

Numbers: TypeAlias = "np.ndarray[Any, Any]"
Rates: TypeAlias = "Callable[[np.random.Generator, int], Numbers]"

LEVEL: Final = 0.05
YEAR: Final = 365
_BATCH: Final = 500
_NAIVE_Z: Final = 1.6449
"""The distance from the mean at which a one-sided test at 5 % calls a night worse."""
_LOG_FACTORIALS: Final = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 400)))])


def mixed(cases: int, steady: float, low: float, high: float) -> Rates:
    """The rates of models of so many cases: a share is always right, the others as often as is drawn for each."""

    def draw(random: np.random.Generator, series: int) -> Numbers:
        rates = random.uniform(low, high, (series, cases))
        rates[:, : round(steady * cases)] = 1.0
        return rates

    return draw


WORLDS: Final[Mapping[str, Rates]] = {
    "100 realistic": mixed(100, 0.7, 0.5, 1.0),
    "20 steady": mixed(20, 0.9, 0.8, 1.0),
    "100 uniform": mixed(100, 0.0, 0.5, 1.0),
    "10 wild": mixed(10, 0.3, 0.1, 0.9),
}


def _unchanged(rates: Numbers, _: np.random.Generator) -> Numbers:
    return rates


def _own_luck(points: float) -> Callable[[Numbers, np.random.Generator], Numbers]:
    """Each night all cases are better or worse together, by about so many points."""

    def luck(rates: Numbers, random: np.random.Generator) -> Numbers:
        return np.clip(rates + random.normal(0, points, (len(rates), 1)), 0, 1)

    return luck


def _bad_hour(rates: Numbers, random: np.random.Generator) -> Numbers:
    """One night in ten, all answers are worse by a tenth."""
    return rates * np.where(random.random((len(rates), 1)) < 0.1, 0.9, 1.0)


LUCK: Final[Mapping[str, Callable[[Numbers, np.random.Generator], Numbers]]] = {
    "each night its own luck": _unchanged,
    "all cases 1 point up or down together": _own_luck(0.01),
    "all cases 3 points up or down together": _own_luck(0.03),
    "one night in ten worse by a tenth": _bad_hour,
}


def _each(points: float) -> Callable[[Numbers, np.random.Generator], Numbers]:
    return lambda rates, _: np.clip(rates * (1 - points / rates.mean(axis=1, keepdims=True)), 0, 1)


def _lost(cases: int) -> Callable[[Numbers, np.random.Generator], Numbers]:
    """Single cases that were always right are wrong for good; they stand first."""

    def lose(rates: Numbers, _: np.random.Generator) -> Numbers:
        worse = rates.copy()
        worse[:, :cases] = 0.0
        return worse

    return lose


DROPS: Final[Mapping[str, Callable[[Numbers, np.random.Generator], Numbers]]] = {
    "each case a little, 2 points": _each(0.02),
    "each case a little, 5 points": _each(0.05),
    "each case a little, 10 points": _each(0.1),
    "each case a little, 20 points": _each(0.2),
    "1 of 100 cases lost": _lost(1),
    "5 of 100 cases lost": _lost(5),
}


def answers(
    rates: Numbers,
    nights: int,
    random: np.random.Generator,
    luck: Callable[[Numbers, np.random.Generator], Numbers] = _unchanged,
) -> Numbers:
    """Right answers, by series, night and case."""
    return np.stack([random.random(rates.shape) < luck(rates, random) for _ in range(nights)], axis=1)


@lru_cache(maxsize=2048)
def _tables(before: int, look: int) -> tuple[Numbers, ...]:
    """For each change the logarithm of its factor, by the right answers now and, beside each other, those in all."""
    now, whole = np.arange(look + 1)[:, None], np.arange(before + look + 1)[None, :]
    rest = before + look - whole
    possible = (now <= whole) & (look - now <= rest)
    ways = np.full(possible.shape, -np.inf)
    factorial = _LOG_FACTORIALS
    n, s = np.broadcast_to(now, possible.shape)[possible], np.broadcast_to(whole, possible.shape)[possible]
    r = before + look - s
    ways[possible] = (
        factorial[s] - factorial[n] - factorial[s - n] + factorial[r] - factorial[look - n] - factorial[r - look + n]
    )
    ways -= factorial[before + look] - factorial[look] - factorial[before]
    return tuple(_table(ways, now, each).ravel() for each in FALLS)


def _table(ways: Numbers, now: Numbers, change: OddsChange) -> Numbers:
    tilted = ways + now * np.log(change.odds)
    norm = np.logaddexp.reduce(tilted, axis=0)
    with np.errstate(invalid="ignore"):
        factor = np.where(np.isfinite(ways), now * np.log(change.odds) - norm, 0.0)
    if change.share < 1:
        factor = np.log(1 - change.share + change.share * np.exp(factor))
    return np.asarray(factor, np.float32)


def evidence_by_night(found: Numbers) -> Numbers:
    """The evidence of each series after each night."""
    series, nights, _ = found.shape
    found = found[:, :, ~found.all(axis=(0, 1))]  # cases that are always right say nothing
    sums = np.zeros((series, nights + 1, found.shape[2]), np.int32)
    np.cumsum(found, axis=1, out=sums[:, 1:])
    evidence = np.zeros((series, nights + 1))
    for night in range(1, nights + 1):
        evidence[:, night] = evidence[:, night - 1]
        for look in LOOKS:
            began = night - look + 1
            if began >= 2:
                evidence[:, night] += stake_of(began) / len(LOOKS) * _won(sums, began, night)
    return evidence[:, 1:]


def _won(sums: Numbers, began: int, night: int) -> Numbers:
    first = max(began - MOST_BEFORE, 1)
    before, look = began - first, night - began + 1
    right = sums[:, night] - sums[:, began - 1]
    whole = sums[:, night] - sums[:, first - 1]
    place = right * (before + look + 1) + whole
    products = [np.minimum(table.take(place).sum(axis=1, dtype=np.float64), 600) for table in _tables(before, look)]
    return np.asarray(np.exp(products).mean(axis=0))


def naive_alarms(found: Numbers) -> Numbers:
    """Whether a test at 5 % calls each night worse than all nights before it, case by case."""
    before = np.cumsum(found, axis=1)[:, :-1].astype(np.float64)
    count = np.arange(1, found.shape[1])[None, :, None]
    share = (before + found[:, 1:]) / (count + 1)
    spread = np.sqrt((share * (1 - share)).sum(axis=2))
    excess = (share - found[:, 1:]).sum(axis=2) - 0.5
    alarms = np.zeros(found.shape[:2], bool)
    alarms[:, 1:] = excess > _NAIVE_Z * np.maximum(spread, 1e-9)
    return alarms


class FalseAlarms(NamedTuple):
    """The share of series in which an unchanged model raises an alarm within a year."""

    watch: float
    naive: float


def false_alarms(rates: Rates, luck: str, series: int, seed: int = 1, nights: int = YEAR) -> FalseAlarms:
    """Simulate so many unchanged models."""
    random = np.random.default_rng(seed)
    watched = naive = 0
    for first in range(0, series, _BATCH):
        size = min(_BATCH, series - first)
        found = answers(rates(random, size), nights, random, LUCK[luck])
        watched += int((evidence_by_night(found)[:, -1] >= 1 / LEVEL).sum())
        naive += int(naive_alarms(found).any(axis=1).sum())
    return FalseAlarms(watched / series, naive / series)


class Delay(NamedTuple):
    """The nights that it takes until a loss is seen, the first bad one included."""

    median: float
    ninth_decile: float
    unseen: float
    """The share of series in which it was not seen within the nights that were simulated."""


def delay(drop: str, good: int, series: int, seed: int = 1, nights: int = 150) -> Delay:
    """Simulate a loss after so many good nights."""
    random = np.random.default_rng(seed)
    rates = WORLDS["100 realistic"](random, series)
    worse = DROPS[drop](rates, random)
    found = np.concatenate([answers(rates, good, random), answers(worse, nights, random)], axis=1)
    alarms = evidence_by_night(found) >= 1 / LEVEL
    alarms = alarms[~alarms[:, good - 1], good:]
    waits = np.where(alarms.any(axis=1), alarms.argmax(axis=1) + 1, np.inf)
    half, nine = (float(np.quantile(waits, share, method="higher")) for share in (0.5, 0.9))
    return Delay(half, nine, float(np.isinf(waits).mean()))


def print_nights(series: int) -> None:
    """Print both tables."""
    print(f"{YEAR} nights of unchanged models, {series:,} series a row: any alarm\n")
    print("| cases | luck | `--watch` | a test at 5 % each night |\n|---|---|---|---|")
    rows = [
        *((world, "each night its own luck") for world in WORLDS),
        *(("100 realistic", luck) for luck in [*LUCK][1:]),
    ]
    for world, luck in rows:
        found = false_alarms(WORLDS[world], luck, series)
        print(f"| {world} | {luck} | {100 * found.watch:.1f} % | {100 * found.naive:.1f} % |", flush=True)
    print("\n100 realistic cases: nights until an alarm, in half and in nine of ten series\n")
    print("| loss | after 30 nights | after 200 nights |\n|---|---|---|")
    for drop in DROPS:
        delays = [_delay_text(delay(drop, good, max(series // 25, 1))) for good in (30, 200)]
        print(f"| {drop} | {' | '.join(delays)} |", flush=True)


def _delay_text(found: Delay) -> str:
    texts = [f"{each:.0f}" if np.isfinite(each) else "–" for each in found[:2]]
    return f"{texts[0]}, {texts[1]}" + (f" ({100 * found.unseen:.0f} % unseen)" if found.unseen else "")

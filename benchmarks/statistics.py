"""How often `significant(0.05)` raises a false alarm, and how often it sees a drop: `make statistics`.

Cases differ: some are easy and some hard. Each has a rate of its own at which it is answered rightly, drawn from a beta
distribution whose mean is the accuracy; the smaller its two numbers together, the more cases are always right or always
wrong, as cases are in practice.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from pytest_fcall.core.rate import Rate
from pytest_fcall.tracking.significance import RatePair, p_value_worse

_LEVEL = 0.05


@dataclass(frozen=True)
class Exam:
    """Cases, how often each is asked, and what the model is worth before and now."""

    cases: int = 200
    samples: int = 1
    accuracy: float = 0.85
    drop: float = 0.0
    steadiness: float = 0.25
    """How much alike the answers to a case are: 0 if each case is always right or always wrong, 1 if none is."""


def alarms(exam: Exam, runs: int, seed: int = 1) -> float:
    """The share of so many pairs of runs that the test calls worse."""
    random = Random(seed)  # noqa: S311  # nothing is secret here
    return sum(p_value_worse(_pairs(exam, random)) <= _LEVEL for _ in range(runs)) / runs


def _pairs(exam: Exam, random: Random) -> Iterator[RatePair]:
    spread = exam.steadiness / (1 - exam.steadiness)
    kept = 1 - exam.drop / exam.accuracy
    for _ in range(exam.cases):
        rate = random.betavariate(exam.accuracy * spread, (1 - exam.accuracy) * spread)
        # What got worse got so for good: the case is lost, and not only less likely to be right.
        now = rate if random.random() < kept else 0.0
        yield RatePair(_answers(rate, exam.samples, random), _answers(now, exam.samples, random))


def _answers(rate: float, samples: int, random: Random) -> Rate:
    return Rate(sum(random.random() < rate for _ in range(samples)), samples)


def main() -> None:
    """Print the figures that docs/explanation/statistics.md has."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.statistics")
    parser.add_argument("--runs", type=int, default=10_000)
    runs = parser.parse_args().runs
    print(f"200 cases, {runs:,} pairs of runs: how often significant(0.05) does not hold\n")
    print("| true drop in accuracy | asked once | asked 5 times |\n|---|---|---|")
    for drop in (0.0, 0.02, 0.05, 0.1):
        shares = [alarms(Exam(samples=samples, drop=drop), runs) for samples in (1, 5)]
        print(f"| {100 * drop:.0f} points | " + " | ".join(f"{100 * share:.1f} %" for share in shares) + " |")


if __name__ == "__main__":
    main()

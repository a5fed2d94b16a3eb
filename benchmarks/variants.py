"""How often a relation that changes nothing is called fragile, and how much fragility is seen.

Cases are right at rates of their own, as in the other simulations. A relation that changes nothing leaves each variant
the rate of its case; one that does gives some cases another rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.flips import VariedCase, flips_of


@dataclass(frozen=True)
class Varied:
    """A suite whose cases are varied."""

    cases: int = 50
    relations: int = 5
    variants: int = 1
    """The variants of a case by each relation."""
    repetitions: int = 1
    steadiness: float = 0.25
    """As in `Exam`: 0 if each case is always right or always wrong, 1 if none is."""
    flipped: float = 0.0
    """The share of cases that are answered the other way round under the first relation."""
    accuracy: float = 0.85


def calls_fragile(suite: Varied, runs: int, seed: int = 1) -> tuple[float, float]:
    """The shares of runs that call any unchanged relation fragile, and that call the first one so."""
    random = Random(seed)  # noqa: S311  # nothing is secret here
    false = seen = 0
    for _ in range(runs):
        fragile = {each.relation for each in flips_of(dict(_run(suite, random))) if each.word == "fragile"}
        first = {"0"} & fragile if suite.flipped else set[str]()
        seen += bool(first)
        false += bool(fragile - first)
    return false / runs, seen / runs


def _run(suite: Varied, random: Random) -> Iterator[tuple[str, Sequence[VariedCase]]]:
    """Each relation with the answers to its variants. Answers to a case are the same for all of them."""
    rates = [_rate(suite, random) for _ in range(suite.cases)]
    own = [_answers(rate, 1 + suite.repetitions, random) for rate in rates]
    firsts = [random.random() * each.asked < each.right for each in own]
    for relation in range(suite.relations):
        varied = []
        for rate, first, each in zip(rates, firsts, own, strict=True):
            flips = relation == 0 and random.random() < suite.flipped
            answers = _answers(1 - rate if flips else rate, suite.variants, random)
            varied.append(VariedCase(first, each, answers))
        yield str(relation), varied


def _rate(suite: Varied, random: Random) -> float:
    if not suite.steadiness:
        return float(random.random() < suite.accuracy)
    weight = suite.steadiness / (1 - suite.steadiness) if suite.steadiness < 1 else 1e6
    return random.betavariate(weight * suite.accuracy, weight * (1 - suite.accuracy))


def _answers(rate: float, asked: int, random: Random) -> Rate:
    return Rate(sum(random.random() < rate for _ in range(asked)), asked)


def print_variants(runs: int) -> None:
    """Print the table of docs/how-to/variants.md."""
    print("| cases | repetitions | variants | nothing changes | 5 % of cases flip | 10 % | 20 % |")
    print("|---|---|---|---|---|---|---|")
    for cases, repetitions, variants in ((20, 1, 1), (50, 1, 1), (50, 4, 1), (50, 3, 3), (200, 1, 1), (200, 4, 1)):
        worlds = [Varied(cases, 5, variants, repetitions, each) for each in (0.0, 0.1, 0.25, 0.5)]
        false = max(calls_fragile(world, runs)[0] for world in worlds)
        seen = [
            calls_fragile(Varied(cases, 5, variants, repetitions, 0.1, flipped), runs)[1]
            for flipped in (0.05, 0.1, 0.2)
        ]
        cells = [f"{100 * share:.1f} %" for share in (false, *seen)]
        print(f"| {cases} | {repetitions} | {variants} | {' | '.join(cells)} |")

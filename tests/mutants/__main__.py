"""Mutants: `python -m tests.mutants [--sample N] [--seed N] [--room NAME …]`.

Of all small mistakes that could be in some rooms of the package, a sample is tried: each must make a test fail. A
survivor shows a test that is missing, or code that does nothing; or it means the same, and `equivalents.toml` says why.
"""

from __future__ import annotations

import argparse
import heapq
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from tests.mutants.operators import Mutant
from tests.mutants.rooms import ROOMS, Room
from tests.mutants.trial import Workplace

PROJECT = Path(__file__).parents[2]
EQUIVALENTS = Path(__file__).with_name("equivalents.toml")
WANTED = 0.9
"""The share that must be seen, of those that do not mean the same."""

Change: TypeAlias = tuple[str, str, str, str]
"""Module, function, and the changed lines before and after."""


def main() -> int:
    """Try a sample. Exit with 1 if too few are seen, or if a reason is given for a mutant that there is not."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--sample", type=int, default=300, help="how many, in equal parts from each room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", choices=ROOMS, action="append")
    asked = parser.parse_args()
    names = asked.room or [*ROOMS]
    if asked.sample < len(names):
        parser.error(f"--sample must be at least {len(names)}, one from each room")
    reasons = reasons_for(EQUIVALENTS.read_text("utf-8"))
    mutants = {name: [*ROOMS[name].mutants(PROJECT)] for name in ROOMS}
    stale = reasons.keys() - {change_of(each) for room in mutants.values() for each in room}
    for change in sorted(stale):
        print("STALE, no mutant is like this:", *change, sep="\n    ", flush=True)
    tried = survived = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        workplace = Workplace(PROJECT, Path(folder))
        for name in names:
            sample = sampled(mutants[name], asked.sample // len(names), asked.seed)
            different = [each for each in sample if change_of(each) not in reasons]
            unseen = _unseen(different, ROOMS[name], workplace)
            tried, survived = tried + len(different), survived + unseen
            print(_figures(name, len(sample), len(different), unseen), flush=True)
    seen = (tried - survived) / tried
    print(f"seen: {tried - survived} of {tried} = {seen:.1%}; seed {asked.seed}")
    return 1 if stale or seen < WANTED else 0


def _unseen(mutants: Sequence[Mutant], room: Room, workplace: Workplace) -> int:
    coverage = workplace.measured(room)
    unseen = 0
    for each in mutants:
        if not workplace.is_seen(each, coverage):
            print(described(each), flush=True)
            unseen += 1
    return unseen


def _figures(name: str, sample: int, different: int, unseen: int) -> str:
    return f"{name}: {different - unseen} seen of {different}; {sample - different} more mean the same"


def sampled(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """So many of them by chance, in their order. A change of the package exchanges few of them for others."""
    chosen = heapq.nsmallest(count, mutants, key=lambda each: _digest(seed, each))
    return sorted(chosen, key=mutants.index)


def _digest(seed: int, mutant: Mutant) -> bytes:
    return sha256("\0".join((str(seed), *change_of(mutant))).encode()).digest()


def change_of(mutant: Mutant) -> Change:
    """What a mutant is known by, wherever in its function it stands."""
    return mutant.module, mutant.function, mutant.was, mutant.becomes


def reasons_for(toml: str) -> Mapping[Change, str]:
    """Read why mutants mean the same."""
    entries = tomllib.loads(toml).get("mutant", [])
    return {(each["module"], each["function"], each["was"], each["becomes"]): each["because"] for each in entries}


def described(mutant: Mutant) -> str:
    """Where a mutant is, and what it changes."""
    path = "/".join(mutant.module.split("."))
    return f"{path}.py:{mutant.line} {mutant.function}\n    - {mutant.was}\n    + {mutant.becomes}"


if __name__ == "__main__":
    sys.exit(main())

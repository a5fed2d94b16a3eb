"""What a run costs in instructions, which are the same however busy the machine is: `make bench-instructions`, or
`python -m benchmarks.instructions [COMMIT ...]`.

The checkout, and each commit that is named, is installed as for `benchmarks.fresh`. Valgrind counts, which takes thirty
times as long; what the kernel does and what waits is not in it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from benchmarks.environments import ROOT, Environment, bare, of_checkout, of_commit
from benchmarks.measure import CommandFailed
from benchmarks.releases import NoSuchCommit, named
from benchmarks.scenarios import EMPTY, Scenario, cases, collector

Counts: TypeAlias = Mapping[str, float]
"""Millions of instructions by the name of the scenario."""

_FEW: Final = 200
_MANY: Final = 1_000
_MILLION: Final = 1_000_000
_COUNTER: Final = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
_FOUND: Final = re.compile(r"I +refs: +([\d,]+)")

FLOORS: Final = (EMPTY, collector(_FEW), collector(_MANY))
OURS: Final = (
    EMPTY,
    cases(1),
    cases(_FEW),
    cases(_MANY),
    cases(_FEW, "--collect-only"),
    cases(_MANY, "--collect-only"),
)


def _each(counts: Counts, few: Scenario, many: Scenario) -> float:
    return (counts[many.name] - counts[few.name]) / (_MANY - _FEW)


FIGURES: Final[Mapping[str, Callable[[Counts, Counts], float]]] = {
    f"{_MANY:,} cases ÷ collector": lambda floors, ours: ours[cases(_MANY).name] / floors[collector(_MANY).name],
    "each case ÷ collector": lambda floors, ours: (
        _each(ours, cases(_FEW), cases(_MANY)) / _each(floors, collector(_FEW), collector(_MANY))
    ),
    "each case, millions": lambda _, ours: _each(ours, cases(_FEW), cases(_MANY)),
    "collecting each, millions": lambda _, ours: _each(
        ours, cases(_FEW, "--collect-only"), cases(_MANY, "--collect-only")
    ),
    "first case, millions": lambda _, ours: ours[cases(1).name] - ours[EMPTY.name],
    "empty run ÷ pytest": lambda floors, ours: ours[EMPTY.name] / floors[EMPTY.name],
}


def count(environment: Environment, scenarios: Sequence[Scenario], folder: Path) -> Counts:
    """Run the scenarios one after the other, once to compile what is imported and once to count."""
    counts = dict[str, float]()
    for scenario in scenarios:
        place = folder / scenario.name
        scenario.prepared(environment, place)()
        shutil.rmtree(place / ".fcall", ignore_errors=True)
        counts[scenario.name] = _instructions(environment.pytest(*scenario.arguments), place) / _MILLION
    return counts


def _instructions(command: Sequence[str], folder: Path) -> int:
    # In a process that leaves its environment aside, sets would have another order in every run.
    python, _, *arguments = command
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    ran = subprocess.run(
        [*_COUNTER, python, "-P", "-s", *arguments],
        cwd=folder,
        env={**variables, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode or not (found := _FOUND.search(ran.stderr)):
        raise CommandFailed(f"{' '.join(command)} exited with {ran.returncode}:\n{(ran.stdout + ran.stderr)[-3000:]}")
    return int(found[1].replace(",", ""))


def compare(folder: Path, references: Sequence[str]) -> None:
    """Count for the checkout and the commits, and print a row of the table in docs/speed.md for each."""
    checkout = of_checkout()
    commits = [named(reference, ROOT) for reference in references]
    versions = {each.name: of_commit(each.digest, f"commit-{n}", checkout) for n, each in enumerate(commits, 1)}
    floors = count(bare(checkout), FLOORS, folder / "floors")
    print(f"| version | {' | '.join(FIGURES)} |\n|---|{'---|' * len(FIGURES)}", flush=True)
    for name, environment in (versions | {"checkout": checkout}).items():
        ours = count(environment, OURS, folder / name)
        row = (f"{figure(floors, ours):.2f}" for figure in FIGURES.values())
        print(f"| {name} | {' | '.join(row)} |", flush=True)


def main() -> None:
    """Count for the checkout beside the commits of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions")
    parser.add_argument("commits", nargs="*", metavar="COMMIT")
    chosen = parser.parse_args()
    if not shutil.which(_COUNTER[0]):
        sys.exit("valgrind counts the instructions, and is not installed: it is a package of most distributions")
    with TemporaryDirectory() as folder:
        try:
            compare(Path(folder), chosen.commits)
        except (NoSuchCommit, CommandFailed) as failure:
            sys.exit(str(failure))


if __name__ == "__main__":
    main()

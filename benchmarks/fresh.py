"""What a user pays who has just installed pytest-fcall: `python -m benchmarks.fresh [COMMIT ...] [--rounds N]`.

The checkout, and each commit that is named, is installed with all that it needs into a virtual environment of its own.
The floors run in one that has pytest and PyYAML and nothing else. All of them take turns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeAlias

from benchmarks.environments import ROOT, Environment, bare, of_checkout, of_commit
from benchmarks.measure import CommandFailed, Run, in_turn
from benchmarks.projects import APP
from benchmarks.releases import NoSuchCommit, named
from benchmarks.scenarios import ASK, EMPTY, Scenario, cases, collector, parametrised
from tests.conformance.official.client import PYTHON

Runs: TypeAlias = Sequence[Run]
Figure: TypeAlias = Callable[[Runs, Runs], float]
"""A figure of one round: of the runs of the floors, and of ours."""


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that take turns, and the figures that are made of them."""

    floors: Sequence[Scenario]
    ours: Sequence[Scenario]
    figures: Mapping[str, Figure]
    times: int = 1
    """How many times more rounds it takes: short runs differ more from each other."""


def _write_bfcl(folder: Path) -> None:
    (folder / "app.py").write_text(APP)
    (data,) = PYTHON.parents[1].glob("lib/python3*/site-packages/bfcl_eval")
    (folder / "bfcl_eval").symlink_to(data)


BFCL = Scenario("BFCL", _write_bfcl, (ASK, "--collect-only", "--fc-suite=bfcl", "--fc-suite-path=bfcl_eval"))
"""The leaderboard's 3,641 single requests, in the official package that `make conformance` installs."""

GROUPS = (
    Group(
        [collector(1000), collector(3000)],
        [cases(1000), cases(3000)],
        {
            "1,000 cases ÷ collector, CPU": lambda floors, ours: ours[0].cpu / floors[0].cpu,
            "each case ÷ collector, CPU": lambda floors, ours: (
                (ours[1].cpu - ours[0].cpu) / (floors[1].cpu - floors[0].cpu)
            ),
        },
    ),
    Group(
        [EMPTY],
        [EMPTY, cases(1)],
        {
            "first case, CPU s": lambda _, ours: ours[1].cpu - ours[0].cpu,
            "empty run ÷ pytest, CPU": lambda floors, ours: ours[0].cpu / floors[0].cpu,
        },
        times=3,
    ),
    Group(
        [parametrised(10_000)],
        [cases(10_000)],
        {
            "10,000 cases ÷ functions, CPU": lambda floors, ours: ours[0].cpu / floors[0].cpu,
            "10,000 cases ÷ functions, memory": lambda floors, ours: ours[0].rss / floors[0].rss,
        },
    ),
    Group(
        [parametrised(10_000, "--collect-only")],
        [cases(10_000, "--collect-only")],
        {"collecting 10,000 ÷ functions, CPU": lambda floors, ours: ours[0].cpu / floors[0].cpu},
    ),
    Group([], [BFCL], {"collecting BFCL, CPU s": lambda _, ours: ours[0].cpu}),
)


def fresh(folder: Path, rounds: int, references: Sequence[str] = ()) -> None:
    """Measure the checkout and commits, and print a row of the table in docs/speed.md for each."""
    commits = [named(reference, ROOT) for reference in references]
    checkout = of_checkout()
    floor = bare(checkout)
    others = enumerate(commits, 1)
    versions = {commit.name: of_commit(commit.digest, f"commit-{number}", checkout) for number, commit in others}
    versions["checkout"] = checkout
    print(f"### Fresh environments, {rounds} rounds\n")
    print(f"| figure | {' | '.join(versions)} |\n|---|{'---|' * len(versions)}", flush=True)
    figures: dict[str, dict[str, Sequence[float]]] = {}
    for number, group in enumerate(GROUPS):
        if BFCL in group.ours and not PYTHON.exists():
            print(f"| BFCL is left out: make conformance makes {PYTHON.parents[1].name} |")
            continue
        measured = _measured(group, floor, versions, folder / str(number), rounds * group.times)
        for figure, values in measured.items():
            spreads = (f"{median(of):.2f} ({min(of):.2f} to {max(of):.2f})" for of in values.values())
            print(f"| {figure} | {' | '.join(spreads)} |", flush=True)
        figures |= measured
    modules = {name: _modules(environment, folder / f"modules {name}") for name, environment in versions.items()}
    print(f"\n| version | {' | '.join(figures)} | modules |\n|---|{'---|' * len(figures)}---|")
    for name in versions:
        medians = (f"{median(values[name]):.2f}" for values in figures.values())
        print(f"| {name} | {' | '.join(medians)} | {modules[name]} |")
    print()


def _measured(
    group: Group, floor: Environment, versions: Mapping[str, Environment], folder: Path, rounds: int
) -> dict[str, dict[str, Sequence[float]]]:
    """The values of the group's figures, round by round, by the version."""
    sides = {("", each.name): each.prepared(floor, folder / "floors" / each.name) for each in group.floors}
    for version, environment in versions.items():
        for each in group.ours:
            sides[version, each.name] = each.prepared(environment, folder / version / each.name)
    runs = in_turn(sides, rounds)
    return {
        title: {
            version: [
                figure(
                    [runs["", each.name][number] for each in group.floors],
                    [runs[version, each.name][number] for each in group.ours],
                )
                for number in range(rounds)
            ]
            for version in versions
        }
        for title, figure in group.figures.items()
    }


def _modules(environment: Environment, folder: Path) -> int:
    """How many modules of ours are imported when a run of one case is over."""
    run_one = cases(1).prepared(environment, folder)
    (folder / "conftest.py").write_text(
        "import atexit, pathlib, sys\n"
        "ours = lambda: sum(name.partition('.')[0] == 'pytest_fcall' for name in sys.modules)\n"
        "atexit.register(lambda: pathlib.Path(__file__).with_name('modules.txt').write_text(str(ours())))\n"
    )
    run_one()
    return int((folder / "modules.txt").read_text())


def main() -> None:
    """Measure the checkout beside the commits of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fresh")
    parser.add_argument("commits", nargs="*", metavar="COMMIT")
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder:
        try:
            fresh(Path(folder), chosen.rounds, chosen.commits)
        except (NoSuchCommit, CommandFailed) as failure:
            sys.exit(str(failure))


if __name__ == "__main__":
    main()

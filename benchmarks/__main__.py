"""Measure and print Markdown tables: `python -m benchmarks [answers] [fresh] [baseline] [matching] [dispatch]
[distant-store] [conversations] [proxy] [scale] [strength] [suites] [traces] [--rounds N]`.

`scale` takes most of an hour, `answers` and `distant-store` take minutes, and `distant-store` needs PostgreSQL and
psycopg: these run where they are named."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.answers import answers
from benchmarks.conversations import conversations
from benchmarks.dispatch import dispatch
from benchmarks.distant_store import distant_store
from benchmarks.fresh import fresh
from benchmarks.matching import matching
from benchmarks.measure import CommandFailed, pytest_command, side_by_side, table
from benchmarks.projects import write_cases
from benchmarks.proxy import proxy
from benchmarks.scale import scale
from benchmarks.scenarios import ASK
from benchmarks.strength import strength
from benchmarks.suites import suites
from benchmarks.traces import traces


def baseline(folder: Path, rounds: int) -> None:
    """10,000 cases that are compared with a baseline, against the same without one."""
    for name in ("plain", "kept"):
        (folder / name).mkdir()
        write_cases(folder / name, 10_000)
    commands = {
        what: pytest_command(ASK, f"--rootdir={name}", f"{name}/many.fc.yaml")
        for what, name in (("without a baseline", "plain"), ("with one", "kept"))
    }
    on_a_machine_of_ones_own = {name: value for name, value in os.environ.items() if name != "CI"}
    accept = [*commands["with one"], "--fc-accept"]
    subprocess.run(accept, cwd=folder, env=on_a_machine_of_ones_own, check=True, stdout=subprocess.DEVNULL)
    print("### 10,000 cases with a baseline\n")
    print(table(side_by_side(commands, folder, min(rounds, 3)), "without a baseline"), "\n")


BENCHMARKS: Mapping[str, Callable[[Path, int], None]] = {
    "answers": answers,
    "fresh": fresh,
    "baseline": baseline,
    "matching": matching,
    "dispatch": dispatch,
    "distant-store": distant_store,
    "conversations": conversations,
    "proxy": proxy,
    "scale": scale,
    "strength": strength,
    "suites": suites,
    "traces": traces,
}


_NAMED_ONLY: Final = ("answers", "distant-store", "scale")


def main() -> None:
    """Run what the command line names, or everything that does not take most of an hour."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", choices=[[], *BENCHMARKS], metavar=f"{{{','.join(BENCHMARKS)}}}")
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {chosen.rounds} rounds; figures are medians.\n")
    for name in chosen.names or [name for name in BENCHMARKS if name not in _NAMED_ONLY]:
        with TemporaryDirectory() as folder:
            try:
                BENCHMARKS[name](Path(folder), chosen.rounds)
            except CommandFailed as failure:
                sys.exit(str(failure))


if __name__ == "__main__":
    main()

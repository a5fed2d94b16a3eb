"""Measure and print Markdown tables: `python -m benchmarks [instant] [many] [start] [--rounds N]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.measure import pytest_command, side_by_side, table
from benchmarks.projects import write_cases, write_parametrised

ASK = "--fc-model=python:app:answer"


def instant(folder: Path, rounds: int) -> None:
    """1,000 cases that are answered at once, against a collector of fifteen lines."""
    write_cases(folder, 1000)
    commands = {
        "collector of 15 lines": pytest_command("-p", "no:fcall", "many.floor.yaml"),
        "pytest-fcall": pytest_command(ASK, "many.fc.yaml"),
    }
    print("### 1,000 instant cases\n")
    print(table(side_by_side(commands, folder, rounds), "collector of 15 lines"), "\n")


def many(folder: Path, rounds: int) -> None:
    """10,000 cases in one file, against as many parametrised functions that do nothing."""
    write_cases(folder, 10_000)
    write_parametrised(folder, 10_000)
    rounds = min(rounds, 3)
    for what, arguments in (("collection", ["--collect-only"]), ("whole run", [])):
        commands = {
            "parametrised functions": pytest_command("-p", "no:fcall", *arguments, "test_many.py"),
            "pytest-fcall": pytest_command(ASK, *arguments, "many.fc.yaml"),
        }
        print(f"### 10,000 cases in one file: {what}\n")
        print(table(side_by_side(commands, folder, rounds), "parametrised functions"), "\n")


def start(folder: Path, rounds: int) -> None:
    """A run with one test that does nothing, with the plugin and without it."""
    (folder / "test_empty.py").write_text("def test_nothing(): pass\n")
    commands = {
        "without the plugin": pytest_command("-p", "no:fcall", "test_empty.py"),
        "with the plugin": pytest_command("test_empty.py"),
    }
    runs = side_by_side(commands, folder, max(rounds, 20))
    without, with_plugin = runs.values()
    more = median(b.wall - a.wall for a, b in zip(without, with_plugin, strict=True))
    print("### An empty run\n")
    print(table(runs, "without the plugin"))
    print(f"\nThe plugin costs {more * 1000:.1f} ms (median of {len(without)} pairs).\n")


BENCHMARKS = {"instant": instant, "many": many, "start": start}


def main() -> None:
    """Run what the command line names, or everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", choices=[[], *BENCHMARKS], metavar=f"{{{','.join(BENCHMARKS)}}}")
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {chosen.rounds} rounds; figures are medians.\n")
    for name in chosen.names or BENCHMARKS:
        with TemporaryDirectory() as folder:
            BENCHMARKS[name](Path(folder), chosen.rounds)


if __name__ == "__main__":
    main()

"""Measure and print Markdown tables: `python -m benchmarks [instant] [many] [baseline] [start] [matching] [dispatch]
[conversations] [proxy] [suites] [traces] [--rounds N]`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.conversations import conversations
from benchmarks.dispatch import dispatch
from benchmarks.matching import matching
from benchmarks.measure import pytest_command, side_by_side, table
from benchmarks.projects import write_cases, write_parametrised
from benchmarks.proxy import proxy
from benchmarks.suites import suites
from benchmarks.traces import traces

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


def start(folder: Path, rounds: int) -> None:
    """A run with one test that does nothing: with the plugin, without it, and in an environment with pytest alone."""
    (folder / "test_empty.py").write_text("def test_nothing(): pass\n")
    environments = {name: folder / name for name in ("bare", "full")}
    root = Path(__file__).parent.parent
    for name, packages in (("bare", ["pytest"]), ("full", [str(root)])):
        venv.create(environments[name], with_pip=True)
        pip = [str(environments[name] / "bin/python"), "-m", "pip", "install", "--quiet", *packages]
        subprocess.run(pip, check=True)
    bare, full = (str(path / "bin/python") for path in environments.values())
    commands = {
        "pytest alone": [bare, *pytest_command("test_empty.py")[1:]],
        "with what pytest-fcall needs": [full, *pytest_command("-p", "no:fcall", "test_empty.py")[1:]],
        "with pytest-fcall": [full, *pytest_command("test_empty.py")[1:]],
    }
    runs = side_by_side(commands, folder, max(rounds, 20))
    alone, without, with_plugin = runs.values()
    print("### An empty run\n")
    print(table(runs, "pytest alone"))
    for what, floor in (("The plugin costs", without), ("The plugin and what it needs cost", alone)):
        more = median(b.wall - a.wall for a, b in zip(floor, with_plugin, strict=True))
        print(f"\n{what} {more * 1000:.1f} ms (median of {len(floor)} pairs).")
    print()


BENCHMARKS = {
    "instant": instant,
    "many": many,
    "baseline": baseline,
    "start": start,
    "matching": matching,
    "dispatch": dispatch,
    "conversations": conversations,
    "proxy": proxy,
    "suites": suites,
    "traces": traces,
}


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

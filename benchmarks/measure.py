"""Timing whole processes in turn, so that a noisy machine disturbs all sides alike."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

_Side = TypeVar("_Side")

QUIET = ("-q", "-p", "no:cacheprovider")
"""Options of a pytest run without what would differ from run to run."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one process took."""

    wall: float
    cpu: float
    rss: float
    """Megabytes at the peak."""


class CommandFailed(Exception):
    """A command that was to be measured failed; the message has the end of its output."""


def pytest_command(*arguments: str) -> list[str]:
    """A pytest run in this environment, without the plugins that only developers of this project install."""
    return [sys.executable, "-m", "pytest", *QUIET, "-p", "no:randomly", "-p", "no:asyncio", "-p", "no:cov", *arguments]


def side_by_side(commands: Mapping[str, Sequence[str]], folder: Path, rounds: int) -> dict[str, list[Run]]:
    """Run the commands in turn in one folder, `rounds` times after a warm-up."""
    return in_turn({name: partial(run, command, folder) for name, command in commands.items()}, rounds)


def in_turn(sides: Mapping[_Side, Callable[[], Run]], rounds: int) -> dict[_Side, list[Run]]:
    """Run all sides `rounds` times after a warm-up, every other time in reverse.

    What makes a machine slower or faster all the while then favours no side.
    """
    runs: dict[_Side, list[Run]] = {side: [] for side in sides}
    for number in range(rounds + 1):
        for side in sides if number % 2 == 0 else reversed(list(sides)):
            measured = sides[side]()
            if number:
                runs[side].append(measured)
    return runs


def run(command: Sequence[str], folder: Path, expected: Collection[int] = (0,)) -> Run:
    """Run a command in a folder.

    Raises:
        CommandFailed: Its exit status is not one of those that are expected.
    """
    started = time.perf_counter()
    # Without compiled files, every run would pay again for what people pay once.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    if process.returncode not in expected:
        said = (folder / "output.txt").read_text(errors="replace")[-3000:]
        raise CommandFailed(f"{' '.join(command)} exited with {process.returncode}:\n{said}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def table(runs: Mapping[str, Sequence[Run]], floor: str) -> str:
    """A Markdown table of medians, with the median of the ratios to `floor`, pair by pair."""
    lines = [
        "| run | wall s | CPU s | peak MB | wall ÷ floor | CPU ÷ floor | memory ÷ floor |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, mine in runs.items():
        figures = [f"{median(getattr(run, what) for run in mine):.2f}" for what in ("wall", "cpu")]
        figures.append(f"{median(run.rss for run in mine):.0f}")
        for what in ("wall", "cpu", "rss"):
            pairs = zip(mine, runs[floor], strict=True)
            figures.append(
                "1" if name == floor else f"{median(getattr(a, what) / getattr(b, what) for a, b in pairs):.2f}"
            )
        lines.append(f"| {name} | {' | '.join(figures)} |")
    return "\n".join(lines)

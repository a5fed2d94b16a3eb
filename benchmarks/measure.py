"""Timing whole processes in turn, so that a noisy machine disturbs all sides alike."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True)
class Run:
    """What one process took."""

    wall: float
    cpu: float
    rss: float
    """Megabytes at the peak."""


def pytest_command(*arguments: str) -> list[str]:
    """A pytest run without what would differ from run to run."""
    quiet = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:asyncio", "-p", "no:cov"]
    return [sys.executable, "-m", "pytest", *quiet, *arguments]


def side_by_side(commands: Mapping[str, Sequence[str]], folder: Path, rounds: int) -> dict[str, list[Run]]:
    """Run the commands in turn, `rounds` times after a warm-up. One that fails ends it with what it printed."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            run = _run(command, folder)
            if number:
                runs[name].append(run)
    return runs


def _run(command: Sequence[str], folder: Path) -> Run:
    started = time.perf_counter()
    # Without compiled files, every run would pay again for what people pay once.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    if process.returncode:
        sys.exit(
            f"{' '.join(command)} exited with {process.returncode}:\n{(folder / 'output.txt').read_text()[-3000:]}"
        )
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

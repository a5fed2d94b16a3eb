"""Asking a server on loopback, against the same run with replies that cost nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.measure import Run, pytest_command, side_by_side, table
from benchmarks.projects import write_spelt_out

INSTANT = "--fc-model=python:spelt:answer"
LATENCY = 0.05
IN_FLIGHT = 64
FEW, MANY = 1_000, 10_000


def dispatch(folder: Path, rounds: int) -> None:
    """A thousand requests with all that belongs to them, ten thousand by two workers, and ten thousand replayed."""
    few, many = folder / "few", folder / "many"
    for project, count in ((few, FEW), (many, MANY)):
        project.mkdir()
        write_spelt_out(project, count)
    with serving(LATENCY) as url:
        asking = [f"--fc-model=openai:exam?base_url={url}", "--fc-record=all", f"--fc-concurrency={IN_FLIGHT}"]
        runs = side_by_side({"instant": _pytest(INSTANT), "server": _pytest(*asking)}, few, rounds)
        print(f"### {FEW:,} requests to a server that takes {LATENCY * 1000:.0f} ms, {IN_FLIGHT} in flight\n")
        print(table(runs, "instant"))
        print(_against_the_ideal(runs["instant"], runs["server"]))
        rounds = min(rounds, 3)
        workers = {"one process": _pytest(*asking), "two workers": _pytest(*asking, "-n2")}
        print(f"### {MANY:,} requests\n")
        print(table(side_by_side(workers, many, rounds), "one process"), "\n")
        # The last run has kept all replies.
        replay = _pytest(f"--fc-model=openai:exam?base_url={url}", "--fc-replay")
        print(f"### {MANY:,} replies replayed\n")
        print(table(side_by_side({"instant": _pytest(INSTANT), "replayed": replay}, many, rounds), "instant"), "\n")


def _pytest(*arguments: str) -> list[str]:
    return pytest_command(*arguments, "spelt.fc.yaml")


def _against_the_ideal(instant: list[Run], server: list[Run]) -> str:
    waiting = FEW * LATENCY / IN_FLIGHT
    pairs = list(zip(instant, server, strict=True))
    wall = median(asked.wall / (waiting + floor.wall) for floor, asked in pairs)
    cpu = median(asked.cpu - floor.cpu for floor, asked in pairs) / FEW * 1000
    return f"\nWall is {wall:.2f} times the ideal; each request costs {cpu:.2f} ms of CPU above the instant run.\n"


@contextmanager
def serving(latency: float) -> Iterator[str]:
    """A server in a process of its own that takes so many seconds for each request; its address."""
    command = [sys.executable, "-m", "tests.servers", "--latency", str(latency)]
    root = Path(__file__).parent.parent
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate()

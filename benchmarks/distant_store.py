"""Requests whose replies are kept in a file, on a server of this machine, and on one that is far away."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.dispatch import serving
from benchmarks.measure import pytest_command, run
from benchmarks.projects import write_spelt_out
from tests.servers.postgres import Postgres

COUNT: Final = 200
LATENCY: Final = 0.1
IN_FLIGHT: Final = 32
ONE_WAY: Final = 0.01
_ROOT: Final = Path(__file__).parents[1]
_WATCH: Final = """
import asyncio.events, json, threading, time
pauses, began, run = [], [], asyncio.events.Handle._run

def timed(self):
    if threading.current_thread().name != "fcall-dispatch":
        return run(self)
    before = time.perf_counter()
    began.append(before)
    run(self)
    pauses.append(time.perf_counter() - before)

asyncio.events.Handle._run = timed

def pytest_unconfigure():
    if pauses:
        long = [each for each in pauses if each > 0.005]
        seconds = began[-1] - began[0]
        json.dump([sum(long), max(pauses), seconds], open("pauses.json", "w"))
"""
"""A conftest.py that times what the dispatcher's loop does without a pause."""
_OPTIONS: Final[Mapping[str, list[str]]] = {
    "": [],
    "--fc-rpm": ["--fc-rpm=100000"],
    "--fc-max-cost": ["--fc-max-cost=100", "-n1"],
}
_PRICES: Final = '[tool.fcall.prices."openai:exam"]\ninput = 0.1\noutput = 0.1\n'


def distant_store(folder: Path, rounds: int) -> None:
    """Two hundred requests that take a tenth of a second each, by the place of their replies."""
    write_spelt_out(folder, COUNT)
    (folder / "conftest.py").write_text(_WATCH)
    (folder / "pyproject.toml").write_text(_PRICES)
    print(
        f"### {COUNT} requests of {LATENCY * 1000:.0f} ms, {IN_FLIGHT} in flight, "
        f"{ONE_WAY * 2000:.0f} ms to a far server and back\n"
    )
    print(
        "| replies are kept | with | requests a second | of its time, the loop stands still | longest, ms |\n"
        "|---|---|--:|--:|--:|"
    )
    with serving(LATENCY) as url, Postgres() as server, far_from(server, ONE_WAY) as port:
        places = {
            "in a file": "",
            "on a near server": server.url("bench"),
            "on a far server": server.url("bench").replace(f":{server.port}/", f":{port}/"),
        }
        for option, words in _OPTIONS.items():
            for place, store in places.items():
                figures = []
                for _ in range(rounds):
                    server.forget("bench")
                    os.environ["FCALL_STORE"] = store
                    given = ["-o", "fc_store=${FCALL_STORE}"] if store else []
                    asking = [
                        f"--fc-model=openai:exam?base_url={url}",
                        "--fc-record=all",
                        f"--fc-concurrency={IN_FLIGHT}",
                    ]
                    run(pytest_command(*asking, *given, *words, "spelt.fc.yaml"), folder)
                    figures.append(json.loads((folder / "pauses.json").read_text()))
                still, longest, seconds = (median(each) for each in zip(*figures, strict=True))
                rate = f"{COUNT / seconds:.0f} | {still / seconds:.0%} | {longest * 1000:.0f}"
                print(f"| {place} | {option or '-'} | {rate} |", flush=True)


@contextmanager
def far_from(server: Postgres, seconds: float) -> Iterator[int]:
    """A port by which the server is so many seconds away, one way."""
    command = [sys.executable, "-m", "tests.servers.distance", str(server.port), str(seconds)]
    with subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.communicate()

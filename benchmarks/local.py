"""The embedded model, asked one by one and in batches, and by workers: `make bench-local`.

Needs the environment of `make test-local`, so that it is no part of `python -m benchmarks`.
"""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import pytest_command
from pytest_fcall.backends.local.answerer import Answerer, Feeder
from pytest_fcall.backends.local.assembly import make_answerer
from pytest_fcall.backends.local.continuous_engine import ContinuousFeeder
from pytest_fcall.core import Json, Request, Tool

CITIES = (
    *("Oslo", "Rome", "Paris", "London", "Berlin", "Madrid", "Lisbon", "Dublin", "Vienna", "Prague", "Athens"),
    *("Warsaw", "Cairo", "Delhi", "Tokyo", "Lima", "Quito", "Boston", "Denver", "Sydney", "Bern", "Turin", "Nice"),
    *("Bergen", "Riga", "Kyoto", "Accra", "Miami", "Dallas", "Hanoi", "Seoul", "Porto"),
)
PARAMETERS: dict[str, Json] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("get_weather", "Current weather of a city", PARAMETERS)
TOKENS = 24
FILE = """\
tools:
  - name: get_weather
    description: Current weather of a city
    parameters: {type: object, properties: {city: {type: string}}, required: [city]}
cases:
"""
ROUNDS = 3
RUN = 96
"""Cases of a whole run: with fewer, its figure would be that of starting workers."""
LOOK = 1.0
"""Seconds between looks at the memory. A look takes longer the more processes there are: ten a second slowed `-n 2`."""


def batches(models: Mapping[str, Answerer]) -> None:
    """The same questions, so many at once, with a tool and without; as many tokens are written for each."""
    print("| questions | engine | at once | seconds | tokens a second | times |")
    print("|---|---|---|---|---|---|")
    for what, tools in (("with a tool", (WEATHER,)), ("plain", ())):
        asked = questions(tools, len(CITIES), TOKENS)
        alone = 0.0
        for engine, size in (("static", 1), ("static", 4), ("static", 16), ("continuous", 16)):
            taken = seconds(models[engine], asked, size)
            alone = alone or taken
            speed = len(CITIES) * TOKENS / taken
            print(f"| {what} | {engine} | {size} | {taken:.1f} | {speed:.0f} | {alone / taken:.1f} |", flush=True)


def questions(tools: tuple[Tool, ...], count: int, tokens: int) -> list[Request]:
    """As many questions, each answered by so many tokens."""
    text = "What is the weather in {}?" if tools else "Tell me all that you know about the city of {}."
    cities = islice(cycle(CITIES), count)
    return [
        Request(({"role": "user", "content": text.format(city)},), tools, {"max_tokens": tokens}) for city in cities
    ]


def seconds(model: Answerer, asked: Sequence[Request], size: int) -> float:
    """What it takes to answer all, asked at once, after one to warm up."""
    prompts = [model.prompt(request) for request in asked]

    async def answers(feeder: Feeder) -> float:
        await feeder.generate(replace(prompts[0], settings={"max_tokens": 2}))
        start = time.perf_counter()
        await asyncio.gather(*map(feeder.generate, prompts))
        return time.perf_counter() - start

    with ThreadPoolExecutor(1) as thread:
        feeder = model.engine.feeder(size, thread)
        try:
            return asyncio.run(answers(feeder))
        finally:
            if isinstance(feeder, ContinuousFeeder):
                feeder.stop()


def workers(folder: Path) -> None:
    """Whole runs. Memory is that of pytest, its workers and the process with the model, added up.

    One second of the wall time belongs to the workers' start, however many cases there are. Replies are recorded: by
    that, a worker that takes cases over from another knows what was asked for them.
    """
    case = "  - {{id: {1}{0}, prompt: 'What is the weather in {1} on day {0}?', expect: any_call}}\n"
    cases = (case.format(number, city) for number, city in enumerate(islice(cycle(CITIES), RUN)))
    (folder / "cities.fc.yaml").write_text(FILE + "".join(cases), encoding="utf-8")
    print(f"\n{RUN} cases a run, medians of {ROUNDS}:")
    print("\n| run | seconds | peak MB of all processes |")
    print("|---|---|---|")
    ask = ["--fc-model=local:smollm2?grammar=tools&max_new_tokens=40", "--fc-record=all", "cities.fc.yaml"]
    runs: dict[str, list[tuple[float, float]]] = {"one process": [], "-n 2": []}
    for _ in range(ROUNDS):
        for what, done in runs.items():
            done.append(_run(pytest_command(*ask, *(["-n", "2"] if what == "-n 2" else [])), folder))
    for what, done in runs.items():
        print(f"| {what} | {median(each[0] for each in done):.1f} | {median(each[1] for each in done):.0f} |")


def _run(command: Sequence[str], folder: Path) -> tuple[float, float]:
    start, peak = time.perf_counter(), 0.0
    with (folder / "output").open("wb") as output, subprocess.Popen(command, cwd=folder, stdout=output) as process:
        while process.poll() is None:
            peak = max(peak, _megabytes(process.pid))
            time.sleep(LOOK)
    said = (folder / "output").read_text("utf-8")
    assert f"/{RUN} right" in said, said
    return time.perf_counter() - start, peak


def _megabytes(pid: int) -> float:
    """Of a process and all that it has started."""
    psutil: Any = import_module("psutil")
    total = 0.0
    with suppress(psutil.NoSuchProcess):  # one that has ended meanwhile is counted next time, if at all
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        for each in family:
            total += each.memory_info().rss / 1e6
    return total


def main() -> None:
    model: Mapping[str, Json] = {"name": "smollm2", "root": "/", "device": "cpu"}
    batches({engine: make_answerer({**model, "engine": engine}) for engine in ("static", "continuous")})
    with TemporaryDirectory() as folder:
        workers(Path(folder))


if __name__ == "__main__":
    main()

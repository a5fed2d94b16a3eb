"""The embedded model, asked one by one and in batches, and by workers: `make bench-local`.

Needs the environment of `make test-local`, so that it is no part of `python -m benchmarks`.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import pytest_command
from pytest_fcall.backends.local.answerer import Answerer
from pytest_fcall.backends.local.making import answerer
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


def batches(model: Answerer) -> None:
    """The same questions, so many at once, with a tool and without; as many tokens are written for each."""
    print("| questions | at once | seconds | tokens a second | times |")
    print("|---|---|---|---|---|")
    for what, tools in (("with a tool", (WEATHER,)), ("plain", ())):
        seconds = {size: _seconds(model, tools, size) for size in (1, 4, 16)}
        for size, taken in seconds.items():
            speed = len(CITIES) * TOKENS / taken
            print(f"| {what} | {size} | {taken:.1f} | {speed:.0f} | {seconds[1] / taken:.1f} |", flush=True)


def _seconds(model: Answerer, tools: tuple[Tool, ...], size: int) -> float:
    settings: dict[str, Json] = {"max_tokens": TOKENS}
    text = "What is the weather in {}?" if tools else "Tell me all that you know about the city of {}."
    requests = [Request(({"role": "user", "content": text.format(city)},), tools, settings) for city in CITIES]
    prompts = [model.prompt(request) for request in requests]
    model.engine.generate(prompts[:1], {"max_tokens": 2})
    start = time.perf_counter()
    for first in range(0, len(prompts), size):
        model.engine.generate(prompts[first : first + size], settings)
    return time.perf_counter() - start


def workers(folder: Path) -> None:
    """Whole runs. Memory is that of pytest, its workers and the process with the model, added up."""
    case = "  - {{id: {0}, prompt: 'What is the weather in {0}?', expect: any_call}}\n"
    (folder / "cities.fc.yaml").write_text(FILE + "".join(case.format(city) for city in CITIES), encoding="utf-8")
    print("\n| run | seconds | peak MB of all processes |")
    print("|---|---|---|")
    ask = ["--fc-model=local:smollm2?grammar=tools&max_new_tokens=40", "--fc-record=off", "cities.fc.yaml"]
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
            time.sleep(0.1)
    said = (folder / "output").read_text("utf-8")
    assert f"/{len(CITIES)} right" in said, said
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
    batches(answerer({"name": "smollm2", "root": "/", "device": "cpu"}))
    with TemporaryDirectory() as folder:
        workers(Path(folder))


if __name__ == "__main__":
    main()

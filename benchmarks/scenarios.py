"""The runs of pytest that are compared, each in a project folder of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.environments import Environment
from benchmarks.measure import Run, run
from benchmarks.projects import write_cases, write_collector, write_parametrised, write_spelt_out

ASK = "--fc-model=python:app:answer"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run of pytest on a project."""

    name: str
    write: Callable[[Path], object]
    """Writes the project into a folder."""
    arguments: tuple[str, ...]

    def prepared(self, environment: Environment, folder: Path) -> Callable[[], Run]:
        """Write the project into a new folder; what is returned runs it there, each time as if it were the first."""
        folder.mkdir(parents=True)
        self.write(folder)

        def first_run() -> Run:
            shutil.rmtree(folder / ".fcall", ignore_errors=True)
            return run(environment.pytest(*self.arguments), folder)

        return first_run


def _write_empty(folder: Path) -> None:
    (folder / "test_empty.py").write_text("def test_nothing(): pass\n")


EMPTY = Scenario("empty run", _write_empty, ("test_empty.py",))
"""A test that does nothing, and no case."""


def cases(count: int, *arguments: str) -> Scenario:
    """Cases in one file, which an app answers at once."""
    name = f"{count:,} cases" if count > 1 else "first case"
    return Scenario(" ".join((name, *arguments)), partial(write_cases, count=count), (ASK, *arguments, "many.fc.yaml"))


def collector(count: int) -> Scenario:
    """The same cases, with a collector of fifteen lines that compares dicts."""
    return Scenario(f"{count:,} items", partial(write_collector, count=count), ("many.floor.yaml",))


def parametrised(count: int, *arguments: str) -> Scenario:
    """A function with so many parameter sets that does nothing."""
    name = " ".join((f"{count:,} functions", *arguments))
    return Scenario(name, partial(write_parametrised, count=count), (*arguments, "test_many.py"))


def requests(count: int, url: str) -> Scenario:
    """Requests to a server that spells the calls out."""
    asking = (f"--fc-model=openai:exam?base_url={url}", "--fc-record=all", "--fc-concurrency=64")
    return Scenario(f"{count:,} requests", partial(write_spelt_out, count=count), (*asking, "spelt.fc.yaml"))

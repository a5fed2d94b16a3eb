"""Each framework does what its page and the table say: live, replayed, by workers, as a stream, in threads."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest
from _pytest.mark import ParameterSet

from tests.by_night import by_night
from tests.frameworks.framework import BEHIND_HTTP, FRAMEWORKS, Framework
from tests.frameworks.project import CASES
from tests.frameworks.table import COLUMNS, documented
from tests.frameworks.visit import Visit
from tests.pages import FRAMEWORKS as PAGES
from tests.servers import Asked, Server

YES, NO, ELSEWHERE = "✓", "no", "its own"

BY_NIGHT = ("`-n 2`", "sync", "async", "threads")
"""Ways to call an agent, which say more of this package than of a framework: by day, they are tried with two."""


@dataclass(frozen=True)
class Trial:
    """What a goal is tried with."""

    visit: Visit
    framework: Framework
    folder: Path
    provider: Server


def live(trial: Trial) -> str:
    run, _ = trial.visit.runs
    run.passed(len(CASES))
    return YES


def replay(trial: Trial) -> str:
    _, run = trial.visit.runs
    run.passed(len(CASES))
    return YES


def workers(trial: Trial) -> str:
    trial.visit.by_workers()
    return YES


def streaming(trial: Trial) -> str:
    assert any(_is_stream(asked) for asked in trial.visit.way("streamed")), "nothing was asked for as a stream"
    return YES


def _is_stream(asked: Asked) -> bool:
    return ":stream" in asked.path or bool(asked.json.get("stream"))


def synchronous(trial: Trial) -> str:
    return _by_function(trial, "called")


def asynchronous(trial: Trial) -> str:
    return _by_function(trial, "awaited")


def threads(trial: Trial) -> str:
    return _by_function(trial, "threaded")


def _by_function(trial: Trial, name: str) -> str:
    if trial.framework.ways is BEHIND_HTTP:
        return ELSEWHERE
    trial.visit.way(name)
    return YES


def trouble(trial: Trial) -> str:
    live(trial)
    replay(trial)
    assert len(trial.visit.asked) == trial.framework.requests + 2, "nobody asked again, or somebody did too often"
    return YES


def tools(trial: Trial) -> str:
    project = trial.visit.copy(trial.folder, trial.provider, recorded=False)
    tools, _, _ = trial.framework.files["cases/shop.fc.yaml"].partition("cases:\n")
    assert "parameters" not in tools, "the tools are written out in the case file"
    project.change("cases/shop.fc.yaml", "{city: Oslo}", "{town: Oslo}")
    said = project.linted()
    assert "has no argument `town`" in said, said
    assert "2 faults" in said, said
    return YES


def glue(trial: Trial) -> str:
    return str(trial.framework.glue)


GOALS: Mapping[str, Callable[[Trial], str]] = MappingProxyType(
    dict(
        zip(
            COLUMNS,
            (live, replay, workers, streaming, synchronous, asynchronous, threads, trouble, tools, glue),
            strict=True,
        )
    )
)


def _cells() -> Iterator[ParameterSet]:
    """The cells of the table."""
    for framework in FRAMEWORKS:
        if framework.installed:
            for column in COLUMNS:
                by_day = framework.in_all_ways or (framework.often and column not in BY_NIGHT)
                yield (pytest.param if by_day else by_night)(framework, column, id=f"{framework.name}-{column}")


@pytest.mark.parametrize(("framework", "column"), list(_cells()), indirect=["framework"])
def test_the_table_says_what_happens(
    framework: Framework,
    column: str,
    visit: Callable[[Framework], Visit],
    found: Callable[[str, str, str], None],
    tmp_path: Path,
    provider: Server,
) -> None:
    try:
        cell = GOALS[column](Trial(visit(framework), framework, tmp_path / "project", provider))
    except AssertionError:
        if documented()[framework.name, column] != NO and os.environ.get("TABLE") != "write":
            raise
        cell = NO
    found(framework.name, column, cell)


def test_glue_is_two_lines_at_most(framework: Framework) -> None:
    assert framework.glue <= 2


def test_each_framework_has_a_page_and_each_page_a_framework() -> None:
    pages = {path.stem for path in PAGES.glob("*.md")} - {"README"}
    assert pages == {framework.name for framework in FRAMEWORKS}
    assert documented().keys() == {(framework.name, column) for framework in FRAMEWORKS for column in COLUMNS}


def test_a_page_pins_what_it_is_tested_with(framework: Framework) -> None:
    here = Path(__file__).parent
    if framework.group == "node":
        pins = json.loads((here / "node" / "package.json").read_text(encoding="utf-8"))["dependencies"].values()
        assert all(re.fullmatch(r"[\d.]+", pin) for pin in pins)
    else:
        lines = (here / f"{framework.group}.txt").read_text(encoding="utf-8").splitlines()
        assert all(re.search(r"==\d|^mcp>", line) for line in lines if not line.startswith("#"))

"""A process may die at any point: nothing is submitted twice, and no batch is lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from pytest_fcall.backends.batch.progress import SETTLE_SECONDS
from pytest_fcall.backends.batch_server import BatchInterface
from tests.unit.backends.batch.kills import Points
from tests.unit.backends.batch.support import Project, name


class Killed(BaseException):
    """The process is no more."""


def die() -> None:
    raise Killed


def run_until(project: Project, points: Points) -> bool:
    """Whether the command came to its end."""
    with ExitStack() as stack:
        for each in points.patched():
            stack.enter_context(each)
        try:
            project.run()
        except Killed:
            return False
    return True


def finish(project: Project) -> None:
    """Go on as one does who comes back at once, and later."""
    project.now += 1.0
    for _ in range(6):
        project.run()
        if project.portions and not any(portion.is_under_way for portion in project.portions):
            return
        project.now += 2 * SETTLE_SECONDS


def check(project: Project, points: object) -> None:
    names = [name(number) for number in range(project.requests)]
    assert sorted(project.api.submitted) == names, f"killed at {points}"
    assert project.answered == names, f"killed at {points}"
    assert not any(portion.is_under_way for portion in project.portions), f"killed at {points}"
    assert len(list(project.folder.path.iterdir())) == 1 + len(project.portions), f"killed at {points}"


def fresh(project: Project, folder: Path) -> None:
    """Another project, and a server that knows nothing."""
    folder.mkdir()
    project.root = folder
    project.server.default = type(project.api)()
    project.api.stages = {"gemini": ["PENDING"]}.get(project.interface, ["in_progress"])


def test_a_kill_at_any_point_neither_submits_twice_nor_loses_a_batch(project: Project, tmp_path: Path) -> None:
    """A command submits, and the next one takes what came: each of them dies once at each point."""
    points = [0, 0]
    for command in (0, 1):
        while True:
            fresh(project, tmp_path / f"{command}-{points[command]}")
            if command:
                project.run()
            if run_until(project, Points(points[command], die)):
                break
            finish(project)
            check(project, (command, points[command]))
            points[command] += 1
    assert points[0] > 7
    assert points[1] > 12


@pytest.mark.nightly
def test_no_number_of_kills_does_harm_to_several_batches(project: Project, tmp_path: Path) -> None:
    project.requests, project.limit = 5, 2
    chance = Random(7)  # noqa: S311 - nothing is secret
    for number in range(100):
        fresh(project, tmp_path / str(number))
        deaths = [chance.randrange(60) for _ in range(chance.randrange(1, 6))]
        for point in deaths:
            run_until(project, Points(point, die))
            project.now += chance.choice([0.5, 2 * SETTLE_SECONDS])
        finish(project)
        check(project, deaths)


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_kill_9_at_any_point_does_no_harm(project: Project, tmp_path: Path) -> None:
    forking = multiprocessing.get_context("forkserver")
    forking.set_forkserver_preload([__name__])
    for command in (0, 1):
        for point in range(1000):
            fresh(project, tmp_path / f"{command}-{point}")
            if command:
                project.run()
            given = (project.root, project.interface, project.server.host, point)
            process = forking.Process(target=run_and_be_killed, args=given)
            process.start()
            process.join(60)
            if process.exitcode == 0:
                break
            assert process.exitcode == -signal.SIGKILL
            finish(project)
            check(project, (command, point))
        assert point > 7


def run_and_be_killed(root: Path, interface: BatchInterface, host: str, fatal: int) -> None:
    project = Project(root, SimpleNamespace(host=host), interface)  # type: ignore[arg-type]
    run_until(project, Points(fatal, lambda: os.kill(os.getpid(), signal.SIGKILL)))

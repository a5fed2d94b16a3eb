"""What comes of doing what a page says, and of the functions that it shows beside the agent."""

from __future__ import annotations

import shlex
from functools import cached_property
from pathlib import Path
from typing import Self

from tests.frameworks.framework import Framework
from tests.frameworks.interpreter import Forked, Fresh
from tests.frameworks.project import CASES, Project, Run, environment_of
from tests.pages import commands, first_missing
from tests.servers import Asked, Server, broken, throttled

THREADED = """\
from concurrent.futures import ThreadPoolExecutor

from ways import called


def threaded(request):
    with ThreadPoolExecutor() as pool:
        return pool.submit(called, request).result()
"""
"""How threads are tried, unless the page says how."""


class Visit:
    """One reader of a page, who does what it says by hand, and tries other things in many quick runs."""

    def __init__(self, framework: Framework, folder: Path, provider: Server) -> None:
        self._folder = folder
        self._provider = provider
        self._framework = framework
        self.asked: list[Asked] = []
        """What the provider was asked on the way."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if "_forked" in vars(self):
            self._forked.close()

    @cached_property
    def project(self) -> Project:
        """The reader's folder, in which the page has been followed to its end."""
        self.runs  # noqa: B018 - that is what follows it
        return self._project

    @cached_property
    def _project(self) -> Project:
        return Project(self._framework, self._folder / "page", self._provider, Fresh(self._framework.python))

    @cached_property
    def _forked(self) -> Forked:
        framework = self._framework
        return Forked(framework.python, framework.imports, environment_of(framework))

    def copy(self, folder: Path, provider: Server, *, recorded: bool) -> Project:
        """The project elsewhere, as it is in version control, with what was `recorded` or without; runs are forked."""
        return self.project.copy(folder, provider, self._forked, recorded=recorded)

    @cached_property
    def runs(self) -> tuple[Run, Run]:
        """The page's run that asks, and the one that does not.

        The provider is busy at the first request, and fails at the second.
        """
        self._provider.script(throttled(milliseconds=1), broken())
        before = len(self._provider.asked)
        runs = []
        for block in self._framework.blocks:
            for command, expected in commands(block) if block.info == "console" else ():
                program, *arguments = shlex.split(command)
                if program == "fcall":
                    self._project.fcall(*arguments)
                    continue
                assert program == "pytest"
                live = "--fc-live" in arguments
                run = self._project.run(*arguments) if live else self._project.offline(*arguments)
                assert first_missing(expected, run.output) is None, run.output
                runs.append(run)
        self.asked = self._provider.asked[before:]
        first, last = runs
        return first, last

    def by_workers(self) -> None:
        """Make sure that all cases pass by two workers, live and replayed."""
        self._live_and_replayed("workers", "-n", "2")

    def way(self, name: str) -> list[Asked]:
        """Make sure that all cases pass by a function, in runs of its own, live and replayed.

        Gives what the provider was asked.
        """
        return self._live_and_replayed(name, f"--fc-model={self._framework.ways[name]}")

    def _live_and_replayed(self, name: str, *arguments: str) -> list[Asked]:
        project = self.copy(self._folder / name, self._provider, recorded=False)
        if "threads.py" not in self._framework.files:
            project.write("threads.py", THREADED)
        before = len(self._provider.asked)
        project.run("--fc-live", *arguments).passed(len(CASES))
        asked = self._provider.asked[before:]
        project.fcall("record", "--export")
        project.replayed(*arguments).passed(len(CASES))
        return asked

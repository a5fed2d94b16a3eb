"""What comes of doing what a page says, and of the functions that it shows beside the agent."""

from __future__ import annotations

import shlex
from functools import cached_property
from pathlib import Path

from tests.frameworks.framework import Framework
from tests.frameworks.project import CASES, Project, Run
from tests.pages import commands, first_missing
from tests.servers import Asked, Server, broken, throttled

THREADED = """\
from concurrent.futures import ThreadPoolExecutor

from ways import called


def threaded(request):
    with ThreadPoolExecutor() as pool:
        return pool.submit(called, request).result()
"""


class Visit:
    """One reader of a page."""

    def __init__(self, framework: Framework, folder: Path, provider: Server) -> None:
        self._folder = folder
        self._provider = provider
        self._framework = framework
        self.asked: list[Asked] = []
        """What the provider was asked on the way."""

    @cached_property
    def project(self) -> Project:
        """The reader's folder, in which the page has been followed to its end."""
        self.runs  # noqa: B018 - that is what follows it
        return self._project

    @cached_property
    def _project(self) -> Project:
        return Project(self._framework, self._folder / "page", self._provider)

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

    @cached_property
    def ways(self) -> tuple[Run, Run, list[Asked]]:
        """The runs by all functions and two workers, live and replayed, and what the provider was asked."""
        project = self.project.copy(self._folder / "ways", self._provider, recorded=False)
        project.write("threads.py", THREADED)
        models = [f"--fc-model={model}" for model in self._framework.ways.values()]
        before = len(self._provider.asked)
        live = project.run(*models, "-n", "2")
        asked = self._provider.asked[before:]
        project.fcall("record", "--export")
        return live, project.replayed(*models, "-n", "2"), asked

    def way(self, name: str) -> list[Asked]:
        """Make sure that all cases passed by a function, live and replayed; what the provider was asked by all."""
        live, replayed, asked = self.ways
        for run in (live, replayed):
            model = self._framework.ways[name]
            outcomes = [outcome for test, outcome in run.outcomes.items() if model in test]
            assert outcomes == ["passed"] * len(CASES), run.output
        return asked

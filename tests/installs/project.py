"""What somebody does who has just installed pytest-fcall: the first cases pass, one fails, and the run is reported."""

from __future__ import annotations

import re
from pathlib import Path
from subprocess import CompletedProcess

from tests.installs.environments import Environment, run


class Project:
    """A folder in which `fcall init` wrote the first cases, and the environment that runs them."""

    def __init__(self, folder: Path, environment: Environment, *before: str) -> None:
        """`before` are the words of a program that runs others, such as `setpriv`."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.environment = environment
        self.before = before

    def fcall(self, *arguments: str) -> CompletedProcess[str]:
        return self.run("fcall", *arguments)

    def pytest(self, *arguments: str) -> CompletedProcess[str]:
        return self.run("python", "-m", "pytest", *arguments)

    def begin(self) -> None:
        begun = self.fcall("init")
        assert begun.returncode == 0, begun.stdout

    def answer_wrongly(self) -> None:
        """From now on the stand-in books a table for another hour. Its size changes, as Python looks at that."""
        agent = self.folder / "agent.py"
        agent.write_text(agent.read_text("utf-8").replace("20:00", "21:00:00"), "utf-8")

    def first_day(self) -> None:
        """Green, accepted, red, reported."""
        version = self.fcall("--version")
        assert re.fullmatch(r"pytest-fcall \d+\.\d+\S*\n", version.stdout), version.stdout
        self.begin()
        accepted = self.pytest("--fc-accept")
        assert accepted.returncode == 0, accepted.stdout
        assert "6 passed" in accepted.stdout
        assert "accepted: 6 cases" in accepted.stdout
        self.answer_wrongly()
        red = self.pytest()
        assert red.returncode == 1, red.stdout
        assert "1 failed, 5 passed" in red.stdout
        assert "wrong_value: `time` is '21:00:00'" in red.stdout
        report = self.fcall("report")
        assert report.returncode == 0, report.stdout
        assert "dinner" in report.stdout

    def run(self, *command: str) -> CompletedProcess[str]:
        program = [*self.before, *self.environment.command(command[0], *command[1:])]
        return run(*program, folder=self.folder, variables=self.environment.variables)

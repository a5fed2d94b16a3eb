"""Ways to run the Python of an environment: fresh, as a user does, or forked from one that has imported a framework."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

FORKS = Path(__file__).with_name("forks.py")


@dataclass(frozen=True)
class Done:
    """A command that is over, with its output and its errors."""

    status: int
    output: str


class Interpreter(Protocol):
    """What runs `python -m MODULE ARGUMENTS` in a folder."""

    def __call__(self, module: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Done: ...


class Fresh:
    """A new process for each command."""

    def __init__(self, python: Path) -> None:
        self._python = python

    def __call__(self, module: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Done:
        done = subprocess.run(
            [self._python, "-m", module, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        return Done(done.returncode, done.stdout)


class Forked:
    """A process that has imported the modules, and forks for each command."""

    def __init__(self, python: Path, modules: Sequence[str], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [python, FORKS, *modules],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def __call__(self, module: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Done:
        assert self._process.stdin
        assert self._process.stdout
        with tempfile.TemporaryDirectory() as apart:
            output = Path(apart, "output")
            command = {
                "module": module,
                "arguments": [*arguments],
                "folder": str(folder),
                "environment": dict(environment),
                "output": str(output),
                "modules": str(Path(apart, "modules")),
            }
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
            answered = self._process.stdout.readline()
            assert answered, f"the Python that forks has ended with status {self._process.wait()}"
            return Done(int(answered), output.read_text(encoding="utf-8", errors="replace"))

    def close(self) -> None:
        """End the process."""
        with self._process:
            assert self._process.stdin
            self._process.stdin.close()

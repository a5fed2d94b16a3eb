"""The output of a command: no secret of this machine is in it, and nothing that a terminal would obey."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from pytest_fcall.core.secrets import Secrets


class SafeOutput:
    """A text stream that writes to another one. What a command prints is not searched before there is something."""

    def __init__(self, bare: TextIO, known: KnownSecrets) -> None:
        self.bare = bare
        """The stream itself, for what moves the cursor on purpose."""
        self._known = known

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bare, name)

    def write(self, text: str) -> int:
        """Write a text, and report the length of the original, as streams do."""
        if not text.isspace():
            from pytest_fcall.reporting.safe_text import laid_out

            self.bare.write(laid_out(self._known.secrets.redacted(text)))
        else:
            self.bare.write(text)
        return len(text)


class KnownSecrets:
    """The secrets of this machine and this project, gathered when they are first needed."""

    def __init__(self, arguments: list[str]) -> None:
        self._arguments = arguments
        self._secrets: Secrets | None = None

    @property
    def secrets(self) -> Secrets:
        """The secrets in the environment, on the command line, and in the entries of models."""
        if self._secrets is None:
            self._secrets = machine_secrets()
            if self._arguments:
                from pytest_fcall.backends.known_secrets import secrets_of_arguments

                self._secrets.add(secrets_of_arguments(self._arguments))
        return self._secrets


def machine_secrets() -> Secrets:
    """The secrets in the environment and in the entries of models of this project."""
    from pytest_fcall.backends.known_secrets import secrets_of_environment, secrets_of_project
    from pytest_fcall.core.secrets import Secrets

    return Secrets((*secrets_of_environment(os.environ), *secrets_of_project(_project(), os.environ)))


def _project() -> Path:
    """The folder with the next pyproject.toml, or this one, which may be gone or closed to this user."""
    here = Path()
    with suppress(OSError):
        here = Path.cwd()
        here = next((folder for folder in (here, *here.parents) if (folder / "pyproject.toml").is_file()), here)
    return here


@contextmanager
def safe_output(arguments: list[str]) -> Iterator[None]:
    """Let all that is printed meanwhile be safe."""
    known = KnownSecrets(arguments)
    out, err = (cast("IO[str]", SafeOutput(stream, known)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield

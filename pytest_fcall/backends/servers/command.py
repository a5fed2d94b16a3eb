"""The command that starts a server, and the address where the server is found."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from pytest_fcall.core.commands import with_interpreter
from pytest_fcall.core.json_data import as_mapping, optional_field, optional_number, required_field
from pytest_fcall.core.values import Json

PORT_PLACEHOLDER = "{port}"
MODEL_PLACEHOLDER = "{model}"
START_SECONDS = 1800.0
"""Seconds for a server to become ready: it may have to download its model first."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command without a shell, and the URL of its server; both contain `{port}`. Equal commands share a server."""

    words: Sequence[str]
    url: str
    folder: Path
    """The working directory."""
    start_seconds: float = START_SECONDS
    """Seconds for the server to become ready."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Additional environment variables; their values may contain `{port}`."""
    health: str | None = None
    """The path whose answer shows that the server is ready; None for the paths that servers of models have."""

    def words_at(self, port: int) -> list[str]:
        """The words of the command for this port."""
        return [word.replace(PORT_PLACEHOLDER, str(port)) for word in self.words]

    def environment_at(self, port: int) -> dict[str, str]:
        """The additional environment variables for this port."""
        return {name: value.replace(PORT_PLACEHOLDER, str(port)) for name, value in self.environment.items()}

    @property
    def program(self) -> str:
        """The name of the program, such as vllm."""
        return PurePath(self.words[0]).name

    def to_data(self) -> dict[str, Json]:
        """The command as JSON data."""
        return {
            "words": list(self.words),
            "url": self.url,
            "folder": str(self.folder),
            "start_seconds": self.start_seconds,
            "environment": dict(self.environment),
            "health": self.health,
        }


def command_from_data(data: Json) -> Command:
    """Read what `Command.to_data` returned. Raises DamagedData."""
    fields = as_mapping(data, "the command")
    return Command(
        [str(word) for word in required_field(fields, "words", list)],
        required_field(fields, "url", str),
        Path(required_field(fields, "folder", str)),
        optional_number(fields, "start_seconds") or START_SECONDS,
        {name: str(value) for name, value in (optional_field(fields, "environment", dict) or {}).items()},
        optional_field(fields, "health", str),
    )


def command_words(line: str, model: str = "") -> list[str]:
    """Split a command line as a shell does, with the model's name for `{model}`, and the running interpreter for
    `{python}`. Raises ValueError.
    """
    words = shlex.split(line)
    if not words or not words[0].strip() or "\0" in line:
        raise ValueError("the command is empty")
    return with_interpreter(word.replace(MODEL_PLACEHOLDER, model) for word in words)


def is_command(value: Json) -> bool:
    """Whether the value is a command line with `{port}`."""
    try:
        return isinstance(value, str) and any(PORT_PLACEHOLDER in word for word in command_words(value)[1:])
    except ValueError:
        return False

"""The command that starts a server, and the address where the server is found."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from pytest_fcall.core import Json
from pytest_fcall.core.json_fields import as_mapping, optional_field, optional_number, required_field

PORT_PLACEHOLDER = "{port}"
MODEL_PLACEHOLDER = "{model}"
START_SECONDS = 1800.0
"""Seconds for a server to be ready: it may have to fetch its model first."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is started, without a shell, and asked at `url`; both hold `{port}`. Equal commands are one server."""

    words: Sequence[str]
    url: str
    folder: Path
    """Where it is started."""
    patience: float = START_SECONDS
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables beside those that are set anyhow; their values may hold `{port}`."""
    health: str | None = None
    """The path that is asked until all is well there; None for those that servers of models have."""

    def at(self, port: int) -> list[str]:
        """The words for this port."""
        return [word.replace(PORT_PLACEHOLDER, str(port)) for word in self.words]

    def variables(self, port: int) -> dict[str, str]:
        """The environment for this port."""
        return {name: value.replace(PORT_PLACEHOLDER, str(port)) for name, value in self.environment.items()}

    @property
    def program(self) -> str:
        """The name of what is started, such as vllm."""
        return PurePath(self.words[0]).name

    def to_data(self) -> dict[str, Json]:
        """Say it in JSON values."""
        return {
            "words": list(self.words),
            "url": self.url,
            "folder": str(self.folder),
            "patience": self.patience,
            "environment": dict(self.environment),
            "health": self.health,
        }


def command_from_data(data: Json) -> Command:
    """Read what `to_data` wrote. Raises Damaged."""
    fields: Mapping[str, Json] = as_mapping(data, "the command")
    return Command(
        [str(word) for word in required_field(fields, "words", list)],
        required_field(fields, "url", str),
        Path(required_field(fields, "folder", str)),
        optional_number(fields, "patience") or START_SECONDS,
        {name: str(value) for name, value in (optional_field(fields, "environment", dict) or {}).items()},
        optional_field(fields, "health", str),
    )


def command_words(written: str, model: str = "") -> list[str]:
    """Take a command apart as a shell would, and put the model's name for `{model}`. Raises ValueError."""
    words = shlex.split(written)
    if not words or not words[0].strip() or "\0" in written:
        raise ValueError("there is no command")
    return [word.replace(MODEL_PLACEHOLDER, model) for word in words]


def is_command(value: Json) -> bool:
    """Whether it can be started, at a port that is chosen for it."""
    try:
        return isinstance(value, str) and any(PORT_PLACEHOLDER in word for word in command_words(value)[1:])
    except ValueError:
        return False

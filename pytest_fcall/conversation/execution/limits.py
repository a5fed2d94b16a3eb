"""The specification of an environment in a process, the limits of that process, and the errors of starting it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pytest_fcall.core.values import Json


class EnvironmentFailed(Exception):
    """The environment of a conversation could not be opened. The text says why."""


class EnvironmentUnavailable(EnvironmentFailed):
    """The environment needs something optional that this machine does not have. The text says what to do."""


@dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """The environment of one conversation.

    `environment` is `module:factory` or `module`. The factory makes, of `setup`, an object that has the tools as
    methods, or as keys; its public attributes are the state. Of a module, the functions are the tools, and other public
    attributes are the state, of which `setup` sets some. `functions` maps tools to plain functions, `module:function`;
    they take precedence. `root` is importable.
    """

    root: Path
    environment: str | None = None
    setup: Mapping[str, Json] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits of called functions."""

    seconds: float = 10.0
    """For each call, and for each reading of the state."""
    start_seconds: float = 60.0
    """For the imports, and for making the environment."""
    memory: int = 2 << 30
    """Bytes of address space."""
    result: int = 1 << 20
    """Bytes of one result as JSON, and of the state."""
    printed: int = 1 << 16
    """Bytes kept from the end of standard output and standard error."""
    file: int = 64 << 20
    """Bytes of any one file that is written."""
    network: bool = False
    """Whether connections may be opened, to anywhere."""
    processes: bool = False
    """Whether programs may be started. Each has the same limits for itself, and ends with the tool process."""
    weaker: bool = False
    """Whether functions are called on a Linux machine, too, that cannot hold them as it should."""
    folders: tuple[Path, ...] = ()
    """Folders that may be read, besides Python's own, `sys.path` and the root."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables that are passed on, besides those without secrets."""


DEFAULT_LIMITS: Final = CallLimits()

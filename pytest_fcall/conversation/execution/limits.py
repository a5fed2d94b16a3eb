"""What is called, and how far it may go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pytest_fcall.core.values import Json


@dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """What stands behind the tools of one conversation.

    `environment` is `module:factory`; what the factory makes of `setup` has the tools as methods, or as keys, and
    its public attributes are the state. Or it is a module, whose functions are the tools, whose other public
    attributes are the state, and `setup` gives some of these other values. `functions` are tools that are plain
    functions: `module:function` by tool name; they go first. `root` is importable.
    """

    root: Path
    environment: str | None = None
    setup: Mapping[str, Json] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """How far called functions may go."""

    seconds: float = 10.0
    """For each call, and for each look at the state."""
    start_seconds: float = 60.0
    """For the imports, and for making the environment."""
    memory: int = 2 << 30
    """Bytes of address space."""
    result: int = 1 << 20
    """Bytes of one result as JSON, and of the state."""
    printed: int = 1 << 16
    """Bytes that are kept of what is written to standard output and standard error: the last ones."""
    file: int = 64 << 20
    """Bytes of any one file that is written."""
    network: bool = False
    """Whether connections may be opened, to anywhere."""
    processes: bool = False
    """Whether programs may be started. They are under the same limits, each for itself, and end with the worker."""
    folders: tuple[Path, ...] = ()
    """What may be read beside Python's own folders, `sys.path` and the root."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables that are handed on, beside those in which no secret stands."""


DEFAULT_LIMITS: Final = Limits()

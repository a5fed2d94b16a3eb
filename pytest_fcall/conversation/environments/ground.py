"""What environments stand on, the same for all cases of a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pytest_fcall.conversation.environments.http.hosts import Hosts
from pytest_fcall.conversation.environments.kept import Kept
from pytest_fcall.conversation.execution.limits import USUAL, Limits


@dataclass(frozen=True, slots=True)
class EnvironmentGround:
    """The project, and how far what is called may go."""

    root: Path
    """pytest's root folder, which is importable."""
    folder: Path
    """Where the case file lies."""
    limits: Limits = USUAL
    hosts: Hosts = field(default_factory=Hosts)
    """Who may be asked over HTTP: nobody, if they are not named."""
    kept: Kept | None = None
    """Where results of servers are kept; None keeps nothing."""

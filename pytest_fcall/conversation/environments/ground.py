"""What environments stand on, the same for all cases of a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

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
    kept: Kept | None = None
    """Where results of servers are kept; None keeps nothing."""

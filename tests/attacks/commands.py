"""`fcall` in this process, where what it raises comes through."""

from __future__ import annotations

from pathlib import Path

from tests.integration.command import fcall_here


def said(folder: Path, *arguments: str) -> tuple[int, str]:
    """The exit status of `fcall` in this folder, and all that it writes."""
    done = fcall_here(folder, *arguments)
    return done.returncode, done.stdout + done.stderr

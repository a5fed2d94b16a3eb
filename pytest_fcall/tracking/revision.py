"""What a run knows of itself: the commit it ran at, and when. Told beside its verdicts, never compared."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.core import Json

_SECONDS = 10


def revision_of(folder: Path) -> dict[str, Json]:
    """The commit that is checked out in `folder`, its branch, and whether files differ from it; nothing without git."""
    commit = run_git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    if commit is None:
        return {}
    branch = run_git(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    changed = run_git(folder, "status", "--porcelain", "--untracked-files=no")
    told: dict[str, Json] = {"commit": commit.decode().strip(), "dirty": bool(changed)}
    return told | ({"branch": branch.decode(errors="replace").strip()} if branch else {})


def file_at_revision(revision: str, path: Path) -> bytes | None:
    """What the file was at a revision; None where there was none, or no such folder yet.

    Raises ValueError, in words, for a revision that git does not know.
    """
    folder = next(parent for parent in path.absolute().parents if parent.is_dir())
    commit = run_git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise ValueError(f"git knows no revision {revision!r} here")
    name = path.absolute().relative_to(folder).as_posix()
    return run_git(folder, "cat-file", "blob", f"{commit.decode().strip()}:./{name}")


def run_git(folder: Path, *arguments: str) -> bytes | None:
    """What git says; None where it fails, or is not there."""
    command: Sequence[str] = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=_SECONDS)  # noqa: S603  no shell, and the program is a fixed one
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None

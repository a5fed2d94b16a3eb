"""Git: the revision of a project, and files at other revisions."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.core import Json

_SECONDS = 10


def revision_of(folder: Path) -> dict[str, Json]:
    """The commit of the work tree, its branch, and whether files differ from it; nothing without git."""
    commit = run_git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    if commit is None:
        return {}
    branch = run_git(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    changed = run_git(folder, "status", "--porcelain", "--untracked-files=no")
    revision: dict[str, Json] = {"commit": commit.decode().strip(), "dirty": bool(changed)}
    return revision | ({"branch": branch.decode(errors="replace").strip()} if branch else {})


def file_at_revision(revision: str, path: Path) -> bytes | None:
    """A file's content at a revision; None where the file did not exist. Raises ValueError for an unknown revision."""
    folder = next(parent for parent in path.absolute().parents if parent.is_dir())
    commit = run_git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise ValueError(f"unknown git revision {revision!r}{_why_unknown(folder, revision)}")
    name = path.absolute().relative_to(folder).as_posix()
    return run_git(folder, "cat-file", "blob", f"{commit.decode().strip()}:./{name}")


def files_at_revision(revision: str, folder: Path) -> list[str]:
    """The paths of all files below a folder at a revision, from that folder."""
    listed = run_git(folder, "ls-tree", "-r", "-z", "--name-only", "--end-of-options", revision) or b""
    return listed.decode(errors="replace").split("\0")


def _why_unknown(folder: Path, revision: str) -> str:
    """What may mend it: a shallow clone has few revisions, and a checkout of CI has branches of the server only."""
    if run_git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"origin/{revision}^{{commit}}"):
        return f"; write origin/{revision}"
    if run_git(folder, "rev-parse", "--is-shallow-repository") == b"true\n":
        return "; this clone is shallow: `git fetch --unshallow`, or `fetch-depth: 0` with actions/checkout"
    return ""


def run_git(folder: Path, *arguments: str) -> bytes | None:
    """The output of git; None where git fails or is missing."""
    command: Sequence[str] = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=_SECONDS)  # noqa: S603  no shell, and the program is a fixed one
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None

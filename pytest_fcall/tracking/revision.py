"""Git: the revision of a project, and files at other revisions."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_fcall.core import Json

_SECONDS = 10
_CHECKOUT_SECONDS = 120
_HEAD = "# branch."
_NO_COMMIT = "(initial)"
_NO_BRANCH = "(detached)"


def revision_of(folder: Path) -> dict[str, Json]:
    """The commit of the work tree, its branch, and whether files differ from it; nothing without git."""
    status = run_git(folder, "status", "--porcelain=v2", "--branch", "--no-ahead-behind", "--untracked-files=no")
    lines = (status or b"").decode(errors="replace").split("\n")[:-1]
    head = dict(line.removeprefix(_HEAD).split(" ", 1) for line in lines if line.startswith(_HEAD))
    commit, branch = head.get("oid", _NO_COMMIT), head.get("head", _NO_BRANCH)
    if commit == _NO_COMMIT:
        return {}
    revision: dict[str, Json] = {"commit": commit, "dirty": any(not line.startswith("#") for line in lines)}
    return revision if branch == _NO_BRANCH else revision | {"branch": branch}


def file_at_revision(revision: str, path: Path) -> bytes | None:
    """A file's content at a revision; None where the file did not exist. Raises ValueError for an unknown revision."""
    folder = next(parent for parent in path.absolute().parents if parent.is_dir())
    name = path.absolute().relative_to(folder).as_posix()
    return run_git(folder, "cat-file", "blob", f"{_commit(revision, folder)}:./{name}")


def files_at_revision(revision: str, folder: Path) -> list[str]:
    """The paths of all files below a folder at a revision, from that folder."""
    listed = run_git(folder, "ls-tree", "-r", "-z", "--name-only", "--end-of-options", revision) or b""
    return listed.decode(errors="replace").split("\0")


def write_revision(revision: str, root: Path, folder: Path) -> None:
    """Write all files below a folder of the repository, as they were at a revision, into an empty folder.

    Neither the work tree nor the index of the repository is touched, and what `export-ignore` leaves out of archives is
    there. Raises ValueError.
    """
    tree = run_git(root, "rev-parse", "--verify", "--quiet", f"{_commit(revision, root)}:./")
    if tree is None:
        raise ValueError(f"the folder {root.name} does not exist at {revision!r}")
    top = run_git(root, "rev-parse", "--show-toplevel") or b""
    above = Path(os.fsdecode(top.removesuffix(b"\n")))  # from a folder below, git would leave out what is not below it
    variables = {"GIT_INDEX_FILE": str(folder.with_name("index")), "GIT_LFS_SKIP_SMUDGE": "1"}
    steps = ("read-tree", tree.decode().strip()), ("checkout-index", "--all", "--force", f"--prefix={folder}/")
    for step in steps:
        if run_git(above, *step, seconds=_CHECKOUT_SECONDS, variables=variables) is None:
            raise ValueError(f"git cannot write the files of {revision!r}")


def _commit(revision: str, folder: Path) -> str:
    """The commit of a revision. Raises ValueError, with advice."""
    commit = run_git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise ValueError(f"unknown git revision {revision!r}{_why_unknown(folder, revision)}")
    return commit.decode().strip()


def _why_unknown(folder: Path, revision: str) -> str:
    """The cause: a shallow clone has few revisions, and a checkout of CI has branches of the server only."""
    if run_git(folder, "--version") is None:
        return ": git is not installed"
    if run_git(folder, "rev-parse", "--git-dir") is None:
        return f": {folder.name} is in no git repository"
    if run_git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"origin/{revision}^{{commit}}"):
        return f"; write origin/{revision}"
    if run_git(folder, "rev-parse", "--is-shallow-repository") == b"true\n":
        return "; this clone is shallow: `git fetch --unshallow`, or `fetch-depth: 0` with actions/checkout"
    return ""


def run_git(
    folder: Path, *arguments: str, seconds: int = _SECONDS, variables: Mapping[str, str] | None = None
) -> bytes | None:
    """The output of git, with these environment variables beside its own; None where git fails or is missing."""
    command: Sequence[str] = ["git", "-C", str(folder), *arguments]
    environment = {**os.environ, **variables} if variables else None
    try:
        done = subprocess.run(  # noqa: S603  no shell, and the program is a fixed one
            command,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=seconds,
            env=environment,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None

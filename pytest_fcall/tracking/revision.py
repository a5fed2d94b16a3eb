"""Git: the revision of a project, files at other revisions, and where its repository is to be seen."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from pytest_fcall.core.values import Json

_SECONDS = 10
_CHECKOUT_SECONDS = 120
_HEAD = "# branch."
_NO_COMMIT = "(initial)"
_NO_BRANCH = "(detached)"


def revision_of(folder: Path) -> dict[str, Json]:
    """The commit of the work tree, its branch, and whether files differ from it; nothing without git."""
    if not _may_be_tracked(folder):
        return {}
    status = run_git(folder, "status", "--porcelain=v2", "--branch", "--no-ahead-behind", "--untracked-files=no")
    lines = (status or b"").decode(errors="replace").split("\n")[:-1]
    fields = dict(line.removeprefix(_HEAD).partition(" ")[::2] for line in lines)  # those of changed files are not read
    commit, branch = fields.get("oid", _NO_COMMIT), fields.get("head", _NO_BRANCH)
    if commit == _NO_COMMIT:
        return {}
    revision: dict[str, Json] = {"commit": commit, "dirty": any(not line.startswith("#") for line in lines)}
    return revision if branch == _NO_BRANCH else revision | {"branch": branch}


def _may_be_tracked(folder: Path) -> bool:
    """Whether git could find a repository of the folder: to start it takes milliseconds."""
    if not os.environ.keys().isdisjoint(("GIT_DIR", "GIT_WORK_TREE")):
        return True
    place = folder.resolve()
    try:
        return any((each / name).exists() for each in (place, *place.parents) for name in (".git", "HEAD"))
    except OSError:  # git knows what to do without permission
        return True


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


_URL: Final = re.compile(
    r"(?P<scheme>https?|ssh|git|git\+ssh)://(?:[^/@]*@)*(?P<host>[A-Za-z0-9.-]+)(?::(?P<port>\d+))?/(?P<path>[^?#]+)"
)
_SSH: Final = re.compile(r"(?:[^/@:]*@)?(?P<host>[A-Za-z0-9.-]{2,}):(?P<path>[^/?#\\][^?#\\]*)")
"""`git@github.com:owner/name`. One letter before the colon is a drive, and a slash behind it no path of a host."""


def repository_of(folder: Path) -> dict[str, Json]:
    """The address of the repository as `remote`, and as `folder` the way from its root; nothing without a remote.

    Of several remotes it is `origin`.
    """
    address = web_address(_line(run_git(folder, "remote", "get-url", "origin")))
    if not address:
        return {}
    inside = _line(run_git(folder, "rev-parse", "--show-prefix")).rstrip("/")
    return {"remote": address, **({"folder": inside} if inside else {})}


def web_address(remote: str) -> str:
    """The address of a remote for a browser, without user, password and query; empty for one that has none."""
    if found := _URL.fullmatch(remote):
        scheme = "http" if found["scheme"] == "http" else "https"
        port = f":{found['port']}" if found["port"] and found["scheme"].startswith("http") else ""
    elif found := _SSH.fullmatch(remote):
        scheme, port = "https", ""
    else:
        return ""
    path = unquote(found["path"]).strip("/").removesuffix(".git")
    return f"{scheme}://{found['host']}{port}/{quote(path, errors='replace')}" if path else ""


def _line(output: bytes | None) -> str:
    return (output or b"").decode(errors="replace").strip("\n")

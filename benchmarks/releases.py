"""The commits that the checkout is compared with."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

SPEED_PAGE = "docs/speed.md"
"""Its table has a row for each version that was measured."""
_ROW = re.compile(r"^\| ([0-9a-f]{7,40}) \|", re.MULTILINE)


class NoSuchCommit(Exception):
    """There is nothing to compare with; the message says why."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, and how it was found."""

    name: str
    """What tables call it: a tag, or the short form of the digest."""
    digest: str
    why: str
    """Why it is this one."""


def named(reference: str, root: Path) -> Commit:
    """The commit of a branch, tag or digest."""
    digest = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}")
    if not digest:
        raise NoSuchCommit(f"{reference!r} is no commit of this repository")
    return Commit(reference, digest, "it was asked for")


def last_release(root: Path) -> Commit:
    """The newest tag `v*` that HEAD contains, or else the last commit that the page on speed has figures of."""
    tags = _git(root, "tag", "--list", "v*", "--merged=HEAD", "--sort=-creatordate").splitlines()
    if tags:
        return Commit(tags[0], named(f"refs/tags/{tags[0]}", root).digest, "it is the newest tag v* that HEAD contains")
    if _git(root, "rev-parse", "--is-shallow-repository") == "true":
        raise NoSuchCommit("this clone is shallow and has no tag v*: fetch the tags and the history")
    rows = [*_ROW.finditer((root / SPEED_PAGE).read_text("utf-8"))]
    if not rows:
        raise NoSuchCommit(f"there is no tag v*, and no commit in the table of {SPEED_PAGE}")
    name = rows[-1][1]
    why = f"there is no tag v*, and it is the last commit in {SPEED_PAGE}"
    return Commit(name, named(name, root).digest, why)


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, check=False, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()

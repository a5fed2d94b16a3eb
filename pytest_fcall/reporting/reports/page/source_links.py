"""The addresses of case files in the repository of the run, at its commit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

from pytest_fcall.core import Json

_WEB: Final = re.compile(r"https?://[A-Za-z0-9.-]+(:\d+)?/[A-Za-z0-9%._~+@/-]+")
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
_GITHUB: Final = ("blob", "#L")
_FORMS: Final[Mapping[str, tuple[str, str]]] = {
    "gitlab": ("-/blob", "#L"),
    "bitbucket": ("src", "#lines-"),
    "gitea": ("src/commit", "#L"),
    "forgejo": ("src/commit", "#L"),
    "codeberg": ("src/commit", "#L"),
}
"""By a part of the host, what stands before the commit and before the line. All others are taken for GitHub's."""


def source_prefix(provenance: Mapping[str, Json]) -> tuple[str, str, str] | None:
    """The parts of a link before the path of a file and before a line in it, and the host; None where unknown.

    A run file may come from anywhere: nothing but an address of the web is taken from it.
    """
    remote, commit, folder = (provenance.get(name) for name in ("remote", "commit", "folder"))
    if not isinstance(remote, str) or not isinstance(commit, str):
        return None
    if not _WEB.fullmatch(remote) or not _COMMIT.fullmatch(commit):
        return None
    host = urlsplit(remote).hostname or ""
    path, line = next((form for name, form in _FORMS.items() if name in host), _GITHUB)
    inside = f"{quote(folder, errors='replace')}/" if isinstance(folder, str) and folder else ""
    return f"{remote}/{path}/{commit}/{inside}", line, host

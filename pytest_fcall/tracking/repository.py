"""Where the files of a project are to be seen in a browser: the address of its repository, without credentials."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from pytest_fcall.core import Json
from pytest_fcall.tracking.revision import run_git

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

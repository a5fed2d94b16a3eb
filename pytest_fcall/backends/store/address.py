"""The address of a store on a server, as `fc_store` names it: `postgresql://user@host/database?project=NAME`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, unquote

from pytest_fcall.core.files import PRIVATE_FOLDER

_SCHEMES: Final = ("postgresql", "postgres")
_PROJECT: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,49}")
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_HOST: Final = re.compile(r"(?:[\w.-]*|\[[\w:.%]+\])(?::(\d{1,9}))?", re.ASCII)
_UNREADABLE: Final = (
    "cannot be read as an address: in user and password, write @ as %40, : as %3A, / as %2F, # as %23 and ? as %3F"
)
_SECRET_PARAMETERS: Final = ("password", "sslpassword", "oauth_client_secret")


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """A database server, and the project whose replies are meant."""

    url: str = field(repr=False)
    """As libpq reads it. It may hold a password."""
    project: str
    shown: str
    """For people: without user, password and parameters."""
    folder: Path
    """The folder for replies that the server does not take for a while."""


StorePlace: TypeAlias = Path | StoreAddress
"""A file of this host, or a server."""


def server_address(written: str, root: Path, environment: Mapping[str, str] = os.environ) -> StoreAddress:
    """Read the setting `fc_store`. Raises ValueError, with a text that holds nothing of a password."""
    url = _expanded(written.strip(), environment)
    scheme, separator, _ = url.partition("://")
    if scheme not in _SCHEMES or not separator:
        raise ValueError(
            "must be an address such as postgresql://user@host/database?project=NAME; a password is "
            "best left to PGPASSWORD or ~/.pgpass"
        )
    before, _, query = url.partition("?")
    (_, hosts), path = _place(before)
    if "#" in url or "@" in path or not all(map(_is_host, hosts.split(","))):
        raise ValueError(_UNREADABLE)
    parameters = [(name, value) for name, _, value in (each.partition("=") for each in query.split("&"))]
    projects = [value for name, value in parameters if name == "project"]
    if len(projects) != 1:
        raise ValueError("must name the project whose replies are meant, once: …?project=NAME")
    if not _PROJECT.fullmatch(projects[0]):
        raise ValueError(
            f"project={projects[0]} must be a name of up to 50 small letters, digits, - and _, such as project=shop"
        )
    others = "&".join(each for each in query.split("&") if not each.startswith("project="))
    place = hosts or unquote(dict(parameters).get("host", "localhost"))
    return StoreAddress(
        f"{before}?{others}" if others else before,
        projects[0],
        f"postgresql://{place}{path} (project {projects[0]})",
        root / PRIVATE_FOLDER,
    )


def _place(address: str) -> tuple[tuple[str, str], str]:
    """User and hosts, and the path. Python's own reader takes no list of hosts of which one is in brackets."""
    authority, slash, path = address.partition("://")[2].partition("/")
    user, _, hosts = authority.rpartition("@")
    return (user, hosts), slash + path


def _is_host(text: str) -> bool:
    """Whether it is a host, and not a part of a password that is written as it must not be."""
    found = _HOST.fullmatch(text)
    return found is not None and int(found[1] or 0) <= 65_535


def passwords_of(written: str, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The passwords in an address, as they are written and as they are meant."""
    try:
        before, _, query = _expanded(written, environment).partition("?")
    except ValueError:
        return []
    (user, _), _ = _place(before)
    found = [user.partition(":")[2], *(value for name, value in parse_qsl(query) if name in _SECRET_PARAMETERS)]
    return list(dict.fromkeys(form for each in found for form in (each, unquote(each)) if form))


def _expanded(text: str, environment: Mapping[str, str]) -> str:
    """The text with the values of variables for `${NAME}`. Raises ValueError for one that is not set."""

    def value(found: re.Match[str]) -> str:
        if not (set_to := environment.get(found[1], "").strip()):
            raise ValueError(f"needs the environment variable {found[1]}, which is not set")
        return set_to

    return _VARIABLE.sub(value, text)

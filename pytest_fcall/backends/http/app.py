"""An app behind an address: where it is, how it is spoken to, and how it is started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pytest_fcall.backends.entries import BadSettings, Entry
from pytest_fcall.backends.http.settings import TIMEOUT
from pytest_fcall.backends.serving.command import PORT, Command, words_of
from pytest_fcall.core import Json, Model

_HEALTH = "/"
_PATIENCE = 120.0
"""Seconds for an app to start, unless `serve_timeout` says otherwise: it has no model to load."""


@dataclass(frozen=True, slots=True)
class App:
    """What is set for an app."""

    url: str
    settings: Mapping[str, Json]
    """What its answer depends on."""
    request: Mapping[str, Json] | None
    response: str | None
    headers: Mapping[str, str]
    timeout: float
    forwards: bool
    """Whether it passes on which case it works on, so that it may work on several at once."""
    command: Command | None
    """What is to be started before it can be asked."""


def app_of(model: Model, entry: Entry, root: Path) -> App:
    """Read what is set. Raises BadSettings."""
    from pytest_fcall.backends.proxy.addresses import is_address

    given = entry.settings
    url = entry.name if "://" in entry.name else f"http://{entry.name}"
    served = "serve" in given
    if served != (PORT in url):
        told = "must hold {port}" if served else "holds {port}, and nothing is started there: add `serve`"
        raise BadSettings(f"{model.id}: the address {told}, as in http:http://127.0.0.1:{PORT}/chat")
    if not is_address(url.replace(PORT, "1")) or "@" in url:
        raise BadSettings(f"{model.id}: write the address whole, such as http:http://127.0.0.1:8000/chat")
    return App(
        url=url,
        settings={name: given[name] for name in ("request", "response") if name in given},
        request=cast("Mapping[str, Json] | None", given.get("request")),
        response=cast("str | None", given.get("response")),
        headers=cast("Mapping[str, str]", given.get("headers", {})),
        timeout=cast("float", given.get("timeout", TIMEOUT)),
        forwards=given.get("forwards") is True,
        command=_command(url, given, root) if served else None,
    )


def _command(url: str, given: Mapping[str, Json], root: Path) -> Command:
    environment = {"PORT": PORT, **cast("Mapping[str, str]", given.get("environment", {}))}
    return Command(
        words_of(cast("str", given["serve"])),
        url,
        root.absolute(),
        cast("float", given.get("serve_timeout", _PATIENCE)),
        environment,
        cast("str", given.get("health", _HEALTH)),
    )

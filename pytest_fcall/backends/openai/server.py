"""Where a model is served, who asks, and what may not be told of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from pytest_fcall.backends.entries import BadSettings, Entry
from pytest_fcall.backends.errors import worth_hiding
from pytest_fcall.backends.secrets import secrets_sent
from pytest_fcall.backends.serving.command import PATIENCE, PORT, Command, words_of
from pytest_fcall.core import Json

OFFICIAL = "https://api.openai.com/v1"
_KEY = "OPENAI_API_KEY"
_URL = "OPENAI_BASE_URL"
_SERVED = f"http://127.0.0.1:{PORT}/v1"
_NO_KEY = "none"
"""Sent where a server asks for no key: the library sends one in any case."""


@dataclass(frozen=True, slots=True)
class Server:
    """An address and the key for it."""

    url: str
    key_variable: str

    @property
    def official(self) -> bool:
        """Whether this is OpenAI's own, or Azure's."""
        host = urlsplit(self.url).hostname or ""
        return host == "api.openai.com" or host.endswith((".openai.azure.com", ".api.openai.com"))

    def key(self) -> str:
        """The key, read when it is needed. Raises ValueError, in words, where there is none and one is needed."""
        key = self._given()
        if key and not _is_plain(key):
            raise ValueError(f"the variable {self.key_variable} holds no key: there are strange characters in it")
        if key or not self.official:
            return key or _NO_KEY
        raise ValueError(
            f"the variable {self.key_variable} is not set; export {self.key_variable}=…, or name another variable by "
            "`api_key_env`, or another server by `base_url`"
        )

    def secrets(self, headers: Mapping[str, str], body: Json) -> tuple[str, ...]:
        """What may be seen in no message: the key, the address, headers, and what the body has by secret names."""
        return worth_hiding([self._given(), *secrets_sent(self.url, headers, body)])

    def _given(self) -> str:
        return os.environ.get(self.key_variable, "").strip()


def server_of(settings: Mapping[str, Json]) -> Server:
    """The server that the settings name, or else the environment. Raises BadSettings for an address that is none."""
    given = settings.get("base_url")
    url = given if isinstance(given, str) else os.environ.get(_URL, "").strip() or OFFICIAL
    named_by = "`base_url`" if given else f"the variable {_URL}"
    variable = settings.get("api_key_env")
    if "serve" in settings:
        url = _served_at(given)
    elif not _is_address(url):
        raise BadSettings(f"{named_by} holds no address; write it whole, such as http://127.0.0.1:8000/v1")
    if "@" in urlsplit(url).netloc:
        raise BadSettings(f"{named_by} holds a name and password; send what the server wants by `headers`")
    return Server(url, variable if isinstance(variable, str) else _KEY)


def command_of(entry: Entry, root: Path) -> Command | None:
    """What is to be started for a model, in the folder `root`; None where nothing is. Raises BadSettings."""
    written = entry.settings.get("serve")
    if not isinstance(written, str):
        return None
    patience = entry.settings.get("serve_timeout", PATIENCE)
    url = server_of(entry.settings).url
    return Command(words_of(written, entry.name), url, root.absolute(), cast("float", patience))


def _served_at(given: Json) -> str:
    """Where a server will be found for which a port is chosen."""
    url = given if isinstance(given, str) else _SERVED
    if not (PORT in urlsplit(url).netloc and url.startswith("http://") and _is_address(url.replace(PORT, "1"))):
        raise BadSettings(f"with `serve`, `base_url` must hold the port that is chosen, as {_SERVED} does")
    return url


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and _is_plain(url)
    except ValueError:
        return False


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text

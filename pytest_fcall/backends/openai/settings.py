"""The settings of a model behind OpenAI's interface; its server, key and command."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import cast
from urllib.parse import urlsplit

from pytest_fcall.backends.provider_failures import long_secrets
from pytest_fcall.backends.redaction import secrets_of_request
from pytest_fcall.backends.servers.command import PORT_PLACEHOLDER, START_SECONDS, Command, command_words, is_command
from pytest_fcall.backends.settings import (
    ModelEntry,
    Option,
    SettingsError,
    choice_option,
    either_option,
    flag_option,
    integer_option,
    number_option,
    table_option,
    text_option,
)
from pytest_fcall.core import Json

OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "base_url": text_option("a URL such as http://127.0.0.1:8000/v1", shapes=False),
        "api_key_env": text_option("the name of an environment variable", shapes=False),
        "headers": table_option("names and texts in one line of ASCII each", of_texts=True, shapes=False),
        "serve": Option("a command such as `vllm serve {model} --port {port}`", is_command, shapes=False),
        "serve_timeout": number_option("a number of seconds above zero", 0, above=True, shapes=False),
        "timeout": number_option("a number of seconds above zero", 0, above=True, shapes=False),
        "api": choice_option("chat", "responses"),
        "mode": choice_option("native", "prompt"),
        "decoder": text_option("the name of a decoder"),
        "strict": flag_option(),
        "temperature": number_option("a number from zero on", 0),
        "top_p": number_option(),
        "seed": integer_option(),
        "max_tokens": integer_option("an integer above zero", 1),
        "frequency_penalty": number_option(),
        "presence_penalty": number_option(),
        "tool_choice": either_option(text_option("auto, none, required, a tool's name"), table_option("a mapping")),
        "parallel_tool_calls": flag_option(),
        "reasoning_effort": text_option("a word such as low"),
        "extra_body": table_option("a mapping of JSON values"),
    }
)
_NOT_SENT = ("api", "mode", "decoder", "strict", "headers", "timeout", "extra_body")
_ENTRY_ONLY = (
    "base_url",
    "api_key_env",
    "serve",
    "serve_timeout",
    "api_key",
    "authorization",
    "extra_headers",
    "extra_query",
    "stream",
)
DEFAULT_TIMEOUT = 300.0


@dataclass(frozen=True, slots=True)
class RequestSettings:
    """How one request is sent, whoever said so."""

    responses: bool = False
    prompt: bool = False
    """Whether tools are told in the prompt."""
    decoder: str | None = None
    strict: bool = False
    timeout: float = DEFAULT_TIMEOUT
    headers: Mapping[str, str] = field(default_factory=dict)
    extra_body: Mapping[str, Json] = field(default_factory=dict)
    sampling: Mapping[str, Json] = field(default_factory=dict)
    """Everything else, which is sent under its own name or that which the wire has for it."""


def answer_settings(settings: Mapping[str, Json]) -> dict[str, Json]:
    """The settings that the answer depends on."""
    return {name: value for name, value in settings.items() if OPTIONS[name].shapes}


def request_settings(model: Mapping[str, Json], case: Mapping[str, Json]) -> RequestSettings:
    """Join what is set for the model with what the request itself says, which counts before it.

    A request may say more than is known here: it is sent as it is. Raises ValueError, in words, for what only a
    model's entry may say, and for a value that cannot be.
    """
    for name, value in case.items():
        if name in _ENTRY_ONLY:
            raise ValueError(f"`{name}` cannot be set by a case")
        if name in OPTIONS:
            _check(name, value)
    every = {**model, **case}
    return RequestSettings(
        responses=every.get("api") == "responses",
        prompt=every.get("mode") == "prompt",
        decoder=cast("str | None", every.get("decoder")),
        strict=every.get("strict") is True,
        timeout=cast("float", every.get("timeout", DEFAULT_TIMEOUT)),
        headers=cast("Mapping[str, str]", every.get("headers", {})),
        extra_body=cast("Mapping[str, Json]", every.get("extra_body", {})),
        sampling={name: value for name, value in every.items() if name not in (*_NOT_SENT, *_ENTRY_ONLY)},
    )


def _check(name: str, value: Json) -> None:
    try:
        OPTIONS[name].checked(value)
    except ValueError as error:
        raise ValueError(f"`{name}` {error}") from None


OFFICIAL_URL = "https://api.openai.com/v1"
_KEY_VARIABLE = "OPENAI_API_KEY"
_URL_VARIABLE = "OPENAI_BASE_URL"
_SERVED_URL = f"http://127.0.0.1:{PORT_PLACEHOLDER}/v1"
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
        if key and not _is_printable_ascii(key):
            raise ValueError(f"the variable {self.key_variable} holds no key: there are strange characters in it")
        if key or not self.official:
            return key or _NO_KEY
        raise ValueError(
            f"the variable {self.key_variable} is not set; export {self.key_variable}=…, or name another variable by "
            "`api_key_env`, or another server by `base_url`"
        )

    def secrets(self, headers: Mapping[str, str], body: Json) -> tuple[str, ...]:
        """What may be seen in no message: the key, the address, headers, and what the body has by secret names."""
        return long_secrets([self._given(), *secrets_of_request(self.url, headers, body)])

    def _given(self) -> str:
        return os.environ.get(self.key_variable, "").strip()


def server_of(settings: Mapping[str, Json]) -> Server:
    """The server that the settings name, or else the environment. Raises BadSettings for an address that is none."""
    given = settings.get("base_url")
    url = given if isinstance(given, str) else os.environ.get(_URL_VARIABLE, "").strip() or OFFICIAL_URL
    named_by = "`base_url`" if given else f"the variable {_URL_VARIABLE}"
    variable = settings.get("api_key_env")
    if "serve" in settings:
        url = _served_at(given)
    elif not _is_address(url):
        raise SettingsError(f"{named_by} holds no address; write it whole, such as http://127.0.0.1:8000/v1")
    if "@" in urlsplit(url).netloc:
        raise SettingsError(f"{named_by} holds a name and password; send what the server wants by `headers`")
    return Server(url, variable if isinstance(variable, str) else _KEY_VARIABLE)


def command_of(entry: ModelEntry, root: Path) -> Command | None:
    """What is to be started for a model, in the folder `root`; None where nothing is. Raises BadSettings."""
    written = entry.settings.get("serve")
    if not isinstance(written, str):
        return None
    patience = entry.settings.get("serve_timeout", START_SECONDS)
    url = server_of(entry.settings).url
    return Command(command_words(written, entry.name), url, root.absolute(), cast("float", patience))


def _served_at(given: Json) -> str:
    """Where a server will be found for which a port is chosen."""
    url = given if isinstance(given, str) else _SERVED_URL
    if not (
        PORT_PLACEHOLDER in urlsplit(url).netloc
        and url.startswith("http://")
        and _is_address(url.replace(PORT_PLACEHOLDER, "1"))
    ):
        raise SettingsError(f"with `serve`, `base_url` must hold the port that is chosen, as {_SERVED_URL} does")
    return url


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and _is_printable_ascii(url)
        )
    except ValueError:
        return False


def _is_printable_ascii(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text

"""The settings of a model behind OpenAI's interface; its server, key and command."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from pytest_fcall.backends.provider_failures import long_secrets
from pytest_fcall.backends.redaction import secrets_of_request
from pytest_fcall.backends.servers.command import PORT_PLACEHOLDER, START_SECONDS, Command, command_words, is_command
from pytest_fcall.backends.settings import (
    ModelEntry,
    Option,
    SettingsError,
    ascii_lines_option,
    choice_option,
    either_option,
    flag_option,
    integer_option,
    is_header,
    number_option,
    seconds_option,
    table_option,
    text_option,
    volatile_option,
)
from pytest_fcall.core.json_data import optional_field, optional_number, optional_strings
from pytest_fcall.core.request import INTERFACES, Interface
from pytest_fcall.core.values import Json

DEFAULT_TIMEOUT = 300.0
OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "base_url": text_option("a URL such as http://127.0.0.1:8000/v1", affects_reply=False),
        "api_key_env": text_option("the name of an environment variable", affects_reply=False),
        "headers": ascii_lines_option(),
        "serve": Option("a command such as `vllm serve {model} --port {port}`", is_command, affects_reply=False),
        "serve_timeout": seconds_option(),
        "timeout": seconds_option(),
        "volatile": volatile_option(),
        "api": choice_option("chat", "responses"),
        "mode": choice_option("native", "prompt"),
        "decoder": text_option("the name of a decoder"),
        "handler": choice_option(*INTERFACES),
        "strict": flag_option(),
        "temperature": number_option("a number, 0 or greater", 0),
        "top_p": number_option(),
        "seed": integer_option(),
        "max_tokens": integer_option("a positive integer", 1),
        "frequency_penalty": number_option(),
        "presence_penalty": number_option(),
        "tool_choice": either_option(text_option("auto, none, required, a tool's name"), table_option("a mapping")),
        "parallel_tool_calls": flag_option(),
        "reasoning_effort": text_option("a word such as low"),
        "extra_body": table_option(),
    }
)
_NOT_IN_BODY = frozenset({"api", "mode", "decoder", "handler", "strict", "headers", "timeout", "extra_body"})
_ENTRY_ONLY = frozenset(
    {
        "base_url",
        "api_key_env",
        "serve",
        "serve_timeout",
        "volatile",
        "api_key",
        "authorization",
        "extra_headers",
        "extra_query",
        "stream",
    }
)


@dataclass(frozen=True, slots=True)
class RequestSettings:
    """The settings of one request, from the model and the case."""

    uses_responses: bool = False
    tools_in_prompt: bool = False
    decoder: str | None = None
    handler: Interface | None = None
    """The interface for which a benchmark's wording writes; None for the one by which the model is asked."""
    strict: bool = False
    timeout: float = DEFAULT_TIMEOUT
    headers: Mapping[str, str] = field(default_factory=dict)
    extra_body: Mapping[str, Json] = field(default_factory=dict)
    sampling: Mapping[str, Json] = field(default_factory=dict)
    """All others. They are sent under their own names, or under the interface's names for them."""


def request_settings(model: Mapping[str, Json], case: Mapping[str, Json]) -> RequestSettings:
    """Join the settings of the model with those of the case, which take precedence.

    Settings of the case that are not in `OPTIONS` are sent unchanged. Raises ValueError for an invalid value, and for
    a setting that only a model's entry may have.
    """
    for name, value in case.items():
        if name in _ENTRY_ONLY:
            raise ValueError(f"`{name}` cannot be set by a case")
        if name in OPTIONS:
            _check(name, value)
    settings = {**model, **case}
    return RequestSettings(
        uses_responses=settings.get("api") == "responses",
        tools_in_prompt=settings.get("mode") == "prompt",
        decoder=optional_field(settings, "decoder", str),
        handler=next((each for each in INTERFACES if each == settings.get("handler")), None),
        strict=settings.get("strict") is True,
        timeout=optional_number(settings, "timeout") or DEFAULT_TIMEOUT,
        headers=optional_strings(settings, "headers") or {},
        extra_body=optional_field(settings, "extra_body", dict) or {},
        sampling={
            name: value for name, value in settings.items() if name not in _NOT_IN_BODY and name not in _ENTRY_ONLY
        },
    )


def _check(name: str, value: Json) -> None:
    try:
        OPTIONS[name].checked(value)
    except ValueError as error:
        raise ValueError(f"`{name}` {error}") from None


OFFICIAL_URL = "https://api.openai.com/v1"
_KEY_VARIABLE = "OPENAI_API_KEY"
_URL_VARIABLE = "OPENAI_BASE_URL"
_HEADER_VARIABLES = (("OpenAI-Organization", "OPENAI_ORG_ID"), ("OpenAI-Project", "OPENAI_PROJECT_ID"))
_HEADERS_VARIABLE = "OPENAI_CUSTOM_HEADERS"
_SERVED_URL = f"http://127.0.0.1:{PORT_PLACEHOLDER}/v1"
_NO_KEY = "none"
"""Sent to a server that needs no key, since the library always sends one."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server's address, and the environment variable with its key."""

    url: str
    key_variable: str

    @property
    def official(self) -> bool:
        """Whether the server is OpenAI's own, or Azure's."""
        host = urlsplit(self.url).hostname or ""
        return host == "api.openai.com" or host.endswith((".openai.azure.com", ".api.openai.com"))

    def key(self) -> str:
        """The key, read from the environment. Raises ValueError if it is invalid, or missing and needed."""
        key = self._environment_key()
        if key and not _is_printable_ascii(key):
            raise ValueError(
                f"the variable {self.key_variable} is not a valid key: it contains spaces or non-ASCII characters"
            )
        if key or not self.official:
            return key or _NO_KEY
        raise ValueError(
            f"the variable {self.key_variable} is not set; export {self.key_variable}=…, or name another variable with "
            "`api_key_env`, or another server with `base_url`"
        )

    def headers(self) -> dict[str, str]:
        """The headers that the environment names. Raises ValueError if one of them is no header."""
        headers = _environment_headers()
        if any(not is_header(*item) for item in headers.items()):
            variables = ", ".join((*(variable for _, variable in _HEADER_VARIABLES), _HEADERS_VARIABLE))
            raise ValueError(f"{variables}: one of these variables is not a line of printable ASCII characters")
        return headers

    def secrets(self, headers: Mapping[str, str], body: Json) -> tuple[str, ...]:
        """The texts that no message may show: the key, the address, the headers, and secrets in the body."""
        from pytest_fcall.backends.openai.environment_proxy import proxy_secrets

        headers = {**_environment_headers(), **headers}
        return long_secrets([self._environment_key(), *proxy_secrets(), *secrets_of_request(self.url, headers, body)])

    def _environment_key(self) -> str:
        return os.environ.get(self.key_variable, "").strip()


def _environment_headers() -> dict[str, str]:
    """The headers that the variables of the openai library name."""
    headers = {name: os.environ[variable].strip() for name, variable in _HEADER_VARIABLES if variable in os.environ}
    lines = (line.partition(":") for line in os.environ.get(_HEADERS_VARIABLE, "").split("\n"))
    return headers | {name.strip(): value.strip() for name, colon, value in lines if colon}


def server_of(settings: Mapping[str, Json]) -> Server:
    """The server of a model's settings, else of the environment. Raises SettingsError for an invalid address."""
    base_url = optional_field(settings, "base_url", str)
    url = base_url or os.environ.get(_URL_VARIABLE, "").strip() or OFFICIAL_URL
    source = "`base_url`" if base_url else f"the variable {_URL_VARIABLE}"
    if "serve" in settings:
        url = base_url or _SERVED_URL
        if not _is_template(url):
            raise SettingsError(f"with `serve`, `base_url` must contain {PORT_PLACEHOLDER}, as {_SERVED_URL} does")
    elif not _is_address(url):
        raise SettingsError(f"{source} is not a valid address; write it in full, such as http://127.0.0.1:8000/v1")
    if "@" in urlsplit(url).netloc:
        raise SettingsError(f"{source} must not contain a name and password; send credentials with `headers`")
    return Server(url, optional_field(settings, "api_key_env", str) or _KEY_VARIABLE)


def command_of(entry: ModelEntry, root: Path) -> Command | None:
    """The command that starts a model's server in the folder `root`; None without `serve`. Raises SettingsError."""
    command = optional_field(entry.settings, "serve", str)
    if command is None:
        return None
    url = server_of(entry.settings).url
    seconds = optional_number(entry.settings, "serve_timeout") or START_SECONDS
    return Command(command_words(command, entry.name), url, root.absolute(), seconds)


def _is_template(url: str) -> bool:
    """Whether `url` is an address with a placeholder for the port that is chosen."""
    return (
        PORT_PLACEHOLDER in urlsplit(url).netloc
        and url.startswith("http://")
        and _is_address(url.replace(PORT_PLACEHOLDER, "1"))
    )


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

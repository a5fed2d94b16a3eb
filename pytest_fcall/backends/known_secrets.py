"""The secrets of a run, from all places that may hold one: environment, command line, configuration, requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote

from pytest_fcall.backends.redaction import LEAST_SEGMENT, secrets_in, sounds_secret
from pytest_fcall.backends.settings import project_tables
from pytest_fcall.core.key_formats import keys_in
from pytest_fcall.core.secrets import looks_secret
from pytest_fcall.core.values import Json

_SECRET_VARIABLE: Final = re.compile(
    r"(?:^|_)(?:API_?KEY|APIKEY|KEYS?|ACCESS_?KEY|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PW|PAT|AUTH"
    r"|AUTHORIZATION|BEARER|CREDENTIALS?|COOKIE|DSN|CONNECTION_STRING|HEADERS|SAS|SIGNATURE)(?:_?\d+)?(?:_|$)"
    r"|PASSWORD|SECRET|_PWD$|TOKEN$|APIKEY$",
    re.IGNORECASE,
)
_PUBLIC_VARIABLE: Final = re.compile(
    r"GPG_KEY|SSH_AUTH_SOCK|.*_(?:KEY_ENV|KEY_NAME|TOKEN_LIMIT)|PYTEST_.*|TOKENIZERS_.*"
)
_NAMED: Final = re.compile(
    r"""(?ix) (?: [\w.-]*(?:key|token|secret|passw(?:or)?d|pwd|auth(?:orization)?|credentials?|cookie|sig)[\w-]* )
    ["']? (?: \s*[=:]\s* | (?<=[\w-]) \s+ ) ["']? (?: (?:bearer|basic|token) \s+ )? (?P<value> [^\s"'&,;]+ )"""
)
_PAIR: Final = re.compile(r"(?i)(?:^|[\s,;])[\w.-]+=(?:(?:bearer|basic|token)\s+)?([^\s,;=][^\s,;]*)")
_PUBLIC_FIELDS: Final = frozenset(
    {
        *("accept", "api-version", "content-type", "deployment", "format", "host", "model", "region", "version"),
        *("anthropic-beta", "anthropic-version", "openai-beta", "http-referer", "origin", "referer", "user-agent"),
        *("x-model", "x-title"),
    }
)
_SIGNATURES: Final = frozenset({"auth", "code", "cookie", "sig", "signature"})


def secrets_of_environment(environment: Mapping[str, str]) -> Iterator[str]:
    """The secrets in environment variables: by their names, by the formats of keys, and in addresses."""
    for name, value in environment.items():
        if _SECRET_VARIABLE.search(name) and not _PUBLIC_VARIABLE.fullmatch(name):
            yield from secret_parts(value)
        if "://" in value:
            yield from _secrets_of_userinfo(value)
    yield from keys_in("\n".join(environment.values()))


def secrets_of_project(root: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """The secrets in the entries of models in pyproject.toml, and in the variables that they name."""
    try:
        entries = project_tables(root, "models")
    except ValueError:  # who reads the entries says so
        return
    for name, entry in entries.items():
        yield from _secrets_of_address(name)
        yield from _secrets_of_entry(entry)
        if isinstance(variable := entry.get("api_key_env"), str):
            yield from secret_parts(environment.get(variable, ""))
            yield from secret_parts("" if variable.isidentifier() else variable)  # the key instead of the name


def secrets_of_variables(text: str, environment: Mapping[str, str]) -> Iterator[str]:
    """The values of the variables that a text refers to as `${NAME}`, a form that keeps them out of files."""
    for found in re.finditer(r"\$\{(\w+)\}", text):
        yield from secret_parts(environment.get(found[1], ""))


def secrets_of_text(text: str) -> Iterator[str]:
    """The secrets in a line that a person has written: an argument, a command, a header."""
    yield from keys_in(text)
    for found in _NAMED.finditer(text):
        yield from secret_parts(found["value"])
    for word in text.split():
        yield from _secrets_of_address(word)


def secrets_of_settings(settings: Mapping[str, Json]) -> Iterator[str]:
    """The secrets in the settings of a request: its headers, and what goes by the name of a secret."""
    for name, value in settings.items():
        if name == "headers" and isinstance(value, Mapping):
            yield from secrets_of_headers({str(key): str(text) for key, text in value.items()})
        else:
            for text in secrets_in({name: value}):
                yield from secret_parts(text)


def secrets_of_headers(headers: Mapping[str, str]) -> Iterator[str]:
    """The secrets in the headers of a request; what follows a word, as in `Bearer KEY`, is one, too."""
    for name, value in headers.items():
        if sounds_secret(name):
            yield from secret_parts(value)
        elif name.lower() not in _PUBLIC_FIELDS:
            yield from (part for part in (value, *value.split()) if looks_secret(part, named=False))


def secrets_of_app_request(headers: Mapping[str, str], query: str) -> Iterator[str]:
    """The keys that an app sends: in headers and fields that go by the name of a secret, and no others."""
    for name, value in (*headers.items(), *parse_qsl(query)):
        if sounds_secret(name) or name.lower() in _SIGNATURES:
            yield from secret_parts(value)


def secret_parts(value: str) -> Iterator[str]:
    """The secret parts of a value named like a secret: all of it, its words, or its pairs' second parts."""
    value = value.strip()
    if "://" in value:
        yield from _secrets_of_address(value)
        return
    pairs = [part for part in _PAIR.findall(value) if looks_secret(part)]
    parts = pairs or (value, *re.split(r"[\s,;]+", value))  # a password may have a sign in it, too
    yield from (part for part in dict.fromkeys(parts) if looks_secret(part))


def _secrets_of_entry(entry: Mapping[str, object]) -> Iterator[str]:
    """The secrets in the entry of a model. Each setting may be mistyped, so that its name says little."""
    for name, value in entry.items():
        match value:
            case str() if sounds_secret(name) and name != "api_key_env":
                yield from secret_parts(value)
            case str():
                yield from secrets_of_text(value)
            case Mapping() if "headers" in name or name == "environment":
                yield from secrets_of_headers({str(key): str(text) for key, text in value.items()})
            case Mapping():
                yield from (part for text in secrets_in({name: value}) for part in secret_parts(text))
                yield from keys_in(str(value))


def _secrets_of_address(text: str) -> Iterator[str]:
    """The secrets in an address, or in a model with settings behind a question mark."""
    before, mark, query = text.partition("?")
    for name, value in parse_qsl(query if mark else ""):
        yield from _secrets_of_address(value) if "://" in value else ()
        if sounds_secret(name) or name.lower() in _SIGNATURES:
            yield from (part for each in secret_parts(value) for part in (each, unquote(each)))
        elif name.lower() not in _PUBLIC_FIELDS and looks_secret(value, named=False):
            yield value
    if "://" in before:
        yield from _secrets_of_userinfo(before)
        yield from (
            step for step in before.split("/") if len(step) >= LEAST_SEGMENT and looks_secret(step, named=False)
        )


def _secrets_of_userinfo(address: str) -> Iterator[str]:
    for found in re.finditer(r"://([^\s/@]+)@", address):
        name, _, password = found[1].partition(":")
        secret = password or name
        yield from (each for each in dict.fromkeys((secret, unquote(secret))) if looks_secret(each))


def secrets_of_arguments(arguments: Iterable[str]) -> Iterator[str]:
    """The secrets on a command line, where a name may stand in the argument before its value."""
    yield from secrets_of_text("\n".join(map(str, arguments)))

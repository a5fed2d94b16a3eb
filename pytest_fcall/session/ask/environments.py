"""What the configuration says of called functions: how far they may go."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from pytest_fcall.conversation.environments import EnvironmentContext, ResultStore
    from pytest_fcall.conversation.environments.http_hosts import Hosts
    from pytest_fcall.conversation.execution.limits import Limits


_ALLOWED = ("network", "programs")
_MIB = 1 << 20
_SETTINGS = ("fc_tool_timeout", "fc_tool_memory", "fc_tool_allow", "fc_allow_hosts", "fc_http_headers")
"""Those that can be written in a way that nobody can read."""
_T = TypeVar("_T", int, float)


def add_world_options(parser: pytest.Parser) -> None:
    """Declare what can be set for called functions, and for what is called over HTTP."""
    parser.getgroup("fcall").addoption(
        "--fc-allow-host",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="a host that `environment: http` may ask, such as api.example.com or localhost:8000; repeat it for more",
    )
    parser.addini("fc_allow_hosts", "hosts beside those of --fc-allow-host (one a line)", type="linelist")
    parser.addini(
        "fc_http_headers",
        "headers that are sent to a host, such as `api.example.com Authorization: Bearer ${SHOP_TOKEN}` (one a line)",
        type="linelist",
    )
    parser.addini("fc_tool_timeout", "seconds that a called function may take (default 10)")
    parser.addini(
        "fc_tool_memory", "MiB of memory that called functions may take, for each conversation (default 2048)"
    )
    parser.addini(
        "fc_tool_allow",
        "what called functions may do that is held off otherwise: network, programs (one a line)",
        type="linelist",
    )
    parser.addini(
        "fc_tool_folders", "folders outside the project that called functions may read (one a line)", type="linelist"
    )
    parser.addini(
        "fc_tool_variables", "environment variables that called functions may see (one a line)", type="linelist"
    )


def check_world_options(config: pytest.Config) -> None:
    """Refuse what cannot be read, before anything runs."""
    if config.getoption("fc_allow_host") or any(map(config.getini, _SETTINGS)):
        _limits(config)
        _hosts(config)


def environment_ground(config: pytest.Config, case_file: Path, kept: ResultStore | None = None) -> EnvironmentContext:
    """What the environment of a case in this file stands on. The settings were checked."""
    from pytest_fcall.conversation.environments import EnvironmentContext

    return EnvironmentContext(config.rootpath, case_file.parent, _limits(config), _hosts(config), kept)


def _limits(config: pytest.Config) -> Limits:
    from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS, Limits

    allowed = _lines(config, "fc_tool_allow")
    if unknown := [each for each in allowed if each not in _ALLOWED]:
        raise pytest.UsageError(f"fc_tool_allow: {unknown[0]!r} is none of {', '.join(_ALLOWED)}")
    return Limits(
        seconds=_positive_number(config, "fc_tool_timeout", float, DEFAULT_LIMITS.seconds),
        memory=_positive_number(config, "fc_tool_memory", int, DEFAULT_LIMITS.memory // _MIB) * _MIB,
        network="network" in allowed,
        processes="programs" in allowed,
        folders=tuple(config.rootpath / path for path in _lines(config, "fc_tool_folders")),
        variables=_variables(config),
    )


def _hosts(config: pytest.Config) -> Hosts:
    from pytest_fcall.conversation.environments.http_hosts import Hosts, is_host

    allowed = (*config.getoption("fc_allow_host"), *_lines(config, "fc_allow_hosts"))
    headers: dict[str, dict[str, str]] = {}
    for line in _lines(config, "fc_http_headers"):
        host, _, header = line.partition(" ")
        name, colon, value = header.partition(":")
        if not colon:
            raise pytest.UsageError(f"fc_http_headers: {line!r} is not of the form `HOST NAME: VALUE`")
        headers.setdefault(host, {})[name.strip()] = value.strip()
    for host in (*allowed, *headers):
        if not is_host(host):
            raise pytest.UsageError(
                f"{host!r} names no host for --fc-allow-host: write api.example.com, or localhost:8000 with a port"
            )
    return Hosts(allowed, headers, os.environ)


def _variables(config: pytest.Config) -> dict[str, str]:
    return {name: os.environ[name] for name in _lines(config, "fc_tool_variables") if name in os.environ}


def _lines(config: pytest.Config, name: str) -> list[str]:
    lines: list[str] = config.getini(name)
    return lines


def _positive_number(config: pytest.Config, name: str, read: Callable[[str], _T], usual: _T) -> _T:
    text = str(config.getini(name) or "")
    if not text:
        return usual
    with suppress(ValueError):
        number = read(text)
        if 0 < number < inf:
            return number
    raise pytest.UsageError(f"{name}: {text!r} is no {'whole number' if read is int else 'number'} above 0")

"""Limits and hosts of environments, as the settings of a run give them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.session.outcomes import SettingError
from pytest_fcall.session.setting_values import choice, positive_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_fcall.conversation.environments.context import EnvironmentContext, Hosts, ResultStore
    from pytest_fcall.conversation.execution.limits import Limits

_PERMISSIONS = ("network", "programs")
_WALLS = ("strict", "weaker")
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class EnvironmentSettings:
    """Settings for called functions and services, as they are written; `check` finds what is wrong with them."""

    timeout: str = ""
    memory: str = ""
    permissions: tuple[str, ...] = ()
    walls: str = ""
    folders: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise SettingError where a setting cannot be used."""
        if self.timeout or self.memory or self.permissions or self.walls or self.hosts or self.headers:
            self._limits(Path())
            self._hosts()

    def context(
        self,
        root: Path,
        case_file: Path,
        store: ResultStore | None = None,
        note: Callable[[str], object] | None = None,
    ) -> EnvironmentContext:
        """The context of environments for the cases of a file. `note` is told what people should know."""
        from pytest_fcall.conversation.environments.context import EnvironmentContext

        return EnvironmentContext(root, case_file.parent, self._limits(root), self._hosts(), store, note)

    def _limits(self, root: Path) -> Limits:
        from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS, Limits

        if unknown := [each for each in self.permissions if each not in _PERMISSIONS]:
            raise SettingError(f"fc_tool_allow: {unknown[0]!r} is none of {', '.join(_PERMISSIONS)}")
        default = DEFAULT_LIMITS
        return Limits(
            seconds=positive_number("fc_tool_timeout", self.timeout, float) or default.seconds,
            memory=(positive_number("fc_tool_memory", self.memory, int) or default.memory // _MIB) * _MIB,
            network="network" in self.permissions,
            processes="programs" in self.permissions,
            weaker=choice("fc_walls", self.walls or "strict", _WALLS) == "weaker",
            folders=tuple(root / path for path in self.folders),
            variables={name: os.environ[name] for name in self.variables if name in os.environ},
        )

    def _hosts(self) -> Hosts:
        from pytest_fcall.conversation.environments.context import Hosts, is_host

        headers: dict[str, dict[str, str]] = {}
        for line in self.headers:
            host, _, header = line.partition(" ")
            name, colon, value = header.partition(":")
            if not colon:
                raise SettingError(f"fc_http_headers: {line!r} is not of the form `HOST NAME: VALUE`")
            headers.setdefault(host, {})[name.strip()] = value.strip()
        for host in (*self.hosts, *headers):
            if not is_host(host):
                raise SettingError(
                    f"--fc-allow-host: {host!r} is not a host; write api.example.com, or localhost:8000 with a port"
                )
        return Hosts(self.hosts, headers, os.environ)

"""What all environments of a case file share: folders, limits and allowed hosts; and the check that a called tool was
offered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fcall.conversation.environments.http_hosts import Hosts
from pytest_fcall.conversation.environments.recorded_results import ResultStore
from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS, Limits
from pytest_fcall.core import CallResult, Environment, Json, Tool


@dataclass(frozen=True, slots=True)
class EnvironmentContext:
    """The project, and how far what is called may go."""

    root: Path
    """pytest's root folder, which is importable."""
    folder: Path
    """Where the case file lies."""
    limits: Limits = DEFAULT_LIMITS
    hosts: Hosts = field(default_factory=Hosts)
    """Who may be asked over HTTP: nobody, if they are not named."""
    kept: ResultStore | None = None
    """Where results of servers are kept; None keeps nothing."""


class OfferedTools:
    """An environment in which only what was offered can be called: `names` says what it is called within."""

    def __init__(self, names: Mapping[str, str], behind: Environment) -> None:
        self._names = names
        self._behind = behind

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Carry out one call."""
        if tool not in self._names:
            return CallResult(error=f"there is no tool `{tool[:100]}`")
        return await self._behind.call(self._names[tool], arguments)

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """Read the public attributes of these names, or all, as a mapping."""
        return await self._behind.state(names)

    async def close(self) -> None:
        """End what was started."""
        await self._behind.close()


def source_name(tool: Tool) -> str:
    """What the tool's source calls it, without the prefix of `as:`."""
    name = (tool.origin or {}).get("name")
    return name if isinstance(name, str) else tool.name

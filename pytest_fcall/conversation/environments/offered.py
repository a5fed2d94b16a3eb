"""The tools that were offered, before what stands behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.core import Environment, Executed, Json, Tool


class Offered:
    """An environment in which only what was offered can be called: `names` says what it is called within."""

    def __init__(self, names: Mapping[str, str], behind: Environment) -> None:
        self._names = names
        self._behind = behind

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Executed:
        """Carry out one call."""
        if tool not in self._names:
            return Executed(error=f"there is no tool `{tool[:100]}`")
        return await self._behind.call(self._names[tool], arguments)

    async def state(self, names: Sequence[str] | None = None) -> Executed:
        """Read the public attributes of these names, or all, as a mapping."""
        return await self._behind.state(names)

    async def close(self) -> None:
        """End what was started."""
        await self._behind.close()


def source_name(tool: Tool) -> str:
    """What the tool's source calls it, without the prefix of `as:`."""
    name = (tool.origin or {}).get("name")
    return name if isinstance(name, str) else tool.name

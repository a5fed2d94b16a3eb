"""Functions that give the same to the same call for ever, as those that look into tables do: each is called once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from pytest_fcall.conversation.environments.kept import Kept
from pytest_fcall.conversation.environments.recall import Recall
from pytest_fcall.core import Environment, Executed, Json


class Lasting:
    """Looks up what a call came to before; the functions are made when there is one of which nothing is kept.

    So a run can be replayed where the tables are not. `name` tells functions of one kind from others.
    """

    def __init__(self, name: str, start: Callable[[], Awaitable[Environment]], kept: Kept) -> None:
        self._start = start
        self._recall = Recall({"environment": name}, kept)
        self._behind: Environment | None = None

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Executed:
        """Carry out a call, or look up what it came to. Raises WorldFailed where the functions cannot be made."""
        try:
            found = self._recall.find(tool, arguments)
        except (ValueError, RecursionError) as error:
            return Executed(error=f"the arguments cannot be read: {error}")
        if found is not None:
            return found
        result = await (await self._made()).call(tool, arguments)
        self._recall.keep(tool, arguments, result)
        return result

    async def state(self, names: Sequence[str] | None = None) -> Executed:
        """Read the public attributes of these names, or all, as a mapping."""
        return await (await self._made()).state(names)

    async def close(self) -> None:
        """End what was started."""
        if self._behind is not None:
            await self._behind.close()

    async def _made(self) -> Environment:
        if self._behind is None:
            self._behind = await self._start()
        return self._behind

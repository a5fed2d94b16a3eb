"""Functions whose results depend on the calls before: what came of each is told again where they may not be called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from pytest_fcall.conversation.environments.kept import Kept, NotRecorded, Story
from pytest_fcall.core import Environment, Executed, Json


class Retold:
    """Calls the functions, and keeps what they say; offline, looks up what they said in this very conversation.

    So a run can be replayed where the functions are not installed. `named` tells them, and how they were set up, from
    others.
    """

    def __init__(self, named: Mapping[str, Json], start: Callable[[], Awaitable[Environment]], kept: Kept) -> None:
        self._named = named
        self._start = start
        self._kept = kept
        self._story = Story(kept.conversation)
        self._behind: Environment | None = None

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Executed:
        """Carry out a call, or look up what it came to. Raises WorldFailed and NotRecorded."""
        return await self._told(
            tool, {"tool": tool, "arguments": arguments}, lambda behind: behind.call(tool, arguments)
        )

    async def state(self, names: Sequence[str] | None = None) -> Executed:
        """Read the public attributes of these names, or all, as a mapping, or look up what they were."""
        return await self._told(None, {"state": names}, lambda behind: behind.state(names))

    async def close(self) -> None:
        """End what was started."""
        if self._behind is not None:
            await self._behind.close()

    async def _told(
        self, tool: str | None, asked: Mapping[str, Json], carry_out: Callable[[Environment], Awaitable[Executed]]
    ) -> Executed:
        call: dict[str, Json] = {**self._named, **asked}
        try:
            key = self._story.key(call, changes=True)
        except (ValueError, RecursionError) as error:
            return Executed(error=f"the arguments cannot be read: {error}")
        if self._kept.offline:
            if (found := self._kept.find(key)) is None:
                raise NotRecorded(tool)
            return found
        if self._behind is None:
            self._behind = await self._start()
        result = await carry_out(self._behind)
        self._kept.keep(key, call, result)
        return result

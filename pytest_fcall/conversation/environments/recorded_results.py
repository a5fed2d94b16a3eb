"""Results of calls that are recorded like replies, and environments that look results up before they call, so that a
conversation can be replayed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pytest_fcall.core import CallResult, Environment, Json, digest


class ResultStore(Protocol):
    """What calls of one conversation came to before, and now."""

    offline: bool
    """Whether nothing counts but what is kept: no server may be asked."""
    conversation: str
    """Names the conversation by what it begins with: the model, what it is asked, and which sample it is."""

    def find(self, key: str) -> CallResult | None:
        """What the call of this key came to; None where nothing is kept that may stand for it."""
        ...

    def keep(self, key: str, call: Mapping[str, Json], result: CallResult) -> None:
        """Keep what the call of this key came to; `call` is the call as people see it, without secrets."""
        ...


class ResultNotRecorded(Exception):
    """A result is not kept, and nobody may be asked. The text says of which call, without a full stop.

    Without one it is the state.
    """

    def __init__(self, tool: str | None = None) -> None:
        super().__init__(f"no {f'result of the call of `{tool}`' if tool else 'state of the environment'} is recorded")


class CallHistory:
    """Names calls by what they say, how often they were made, and all calls before that may have changed something."""

    def __init__(self, begin: str) -> None:
        self._so_far = begin
        self._made: Counter[str] = Counter()

    def key(self, call: Mapping[str, Json], *, changes: bool) -> str:
        """Name the next call. ValueError or RecursionError where JSON cannot say it."""
        said = digest({"after": self._so_far, "call": call})
        self._made[said] += 1
        key = digest({"call": said, "time": self._made[said]})
        if changes:
            self._so_far = key
        return key


@dataclass(frozen=True, slots=True)
class StoredResults:
    """Finds and keeps results by what is called, in whatever conversation.

    `named` tells tools of one kind from others. What JSON cannot say is a ValueError or RecursionError.
    """

    named: Mapping[str, Json]
    kept: ResultStore

    def find(self, tool: str, arguments: Mapping[str, Json]) -> CallResult | None:
        """What the call came to; None where that is not known."""
        return self.kept.find(self._key(tool, arguments))

    def keep(self, tool: str, arguments: Mapping[str, Json], result: CallResult) -> None:
        """Keep what it came to."""
        self.kept.keep(self._key(tool, arguments), self._call(tool, arguments), result)

    def _key(self, tool: str, arguments: Mapping[str, Json]) -> str:
        return CallHistory("").key(self._call(tool, arguments), changes=False)

    def _call(self, tool: str, arguments: Mapping[str, Json]) -> dict[str, Json]:
        return {**self.named, "tool": tool, "arguments": arguments}


class CachedEnvironment:
    """Looks up what a call came to before; the functions are made when there is one of which nothing is kept.

    So a run can be replayed where the tables are not. `name` tells functions of one kind from others.
    """

    def __init__(self, name: str, start: Callable[[], Awaitable[Environment]], kept: ResultStore) -> None:
        self._start = start
        self._recall = StoredResults({"environment": name}, kept)
        self._behind: Environment | None = None

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Carry out a call, or look up what it came to. Raises WorldFailed where the functions cannot be made."""
        try:
            found = self._recall.find(tool, arguments)
        except (ValueError, RecursionError) as error:
            return CallResult(error=f"the arguments cannot be read: {error}")
        if found is not None:
            return found
        result = await (await self._made()).call(tool, arguments)
        self._recall.keep(tool, arguments, result)
        return result

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
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


class ReplayedEnvironment:
    """Calls the functions, and keeps what they say; offline, looks up what they said in this very conversation.

    So a run can be replayed where the functions are not installed. `named` tells them, and how they were set up, from
    others.
    """

    def __init__(
        self, named: Mapping[str, Json], start: Callable[[], Awaitable[Environment]], kept: ResultStore
    ) -> None:
        self._named = named
        self._start = start
        self._kept = kept
        self._story = CallHistory(kept.conversation)
        self._behind: Environment | None = None

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Carry out a call, or look up what it came to. Raises WorldFailed and NotRecorded."""
        return await self._told(
            tool, {"tool": tool, "arguments": arguments}, lambda behind: behind.call(tool, arguments)
        )

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """Read the public attributes of these names, or all, as a mapping, or look up what they were."""
        return await self._told(None, {"state": names}, lambda behind: behind.state(names))

    async def close(self) -> None:
        """End what was started."""
        if self._behind is not None:
            await self._behind.close()

    async def _told(
        self, tool: str | None, asked: Mapping[str, Json], carry_out: Callable[[Environment], Awaitable[CallResult]]
    ) -> CallResult:
        call: dict[str, Json] = {**self._named, **asked}
        try:
            key = self._story.key(call, changes=True)
        except (ValueError, RecursionError) as error:
            return CallResult(error=f"the arguments cannot be read: {error}")
        if self._kept.offline:
            if (found := self._kept.find(key)) is None:
                raise ResultNotRecorded(tool)
            return found
        if self._behind is None:
            self._behind = await self._start()
        result = await carry_out(self._behind)
        self._kept.keep(key, call, result)
        return result

"""What answers a call: the case itself, or what stands behind the tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, Protocol, TypeAlias

from pytest_fcall.core.call import Call
from pytest_fcall.core.case import World
from pytest_fcall.core.environment import Environment, Executed
from pytest_fcall.core.expectation import Canned
from pytest_fcall.core.following import Seen
from pytest_fcall.core.values import Json

Open: TypeAlias = Callable[[], Awaitable[Environment]]

_NOTHING_HERE: Final = "nothing is known about this call"


class Recalling(Protocol):
    """Knows what calls came to in earlier conversations. ValueError or RecursionError for what JSON cannot say."""

    def find(self, tool: str, arguments: Mapping[str, Json]) -> Executed | None:
        """What a call came to; None where that is not known."""
        ...

    def keep(self, tool: str, arguments: Mapping[str, Json], result: Executed) -> None:
        """Keep what a call came to."""
        ...


class NothingAnswers(Exception):
    """A call that nothing may answer: the conversation ends with it."""


class Results:
    """Answers calls: by what stands beside the expected call, else by the stub of the tool, else by the environment.

    Where there is no environment, a call gives what it came to in an earlier conversation, if `recall` knows that; else
    one that is expected or allowed gives `{"ok": true}`, and `unmatched` says what becomes of any other.
    The environment is opened with the first call that needs it.
    """

    def __init__(self, world: World, open_environment: Open | None, recall: Recalling | None = None) -> None:
        self._world = world
        self._open = open_environment
        self._recall = recall
        self._environment: Environment | None = None

    async def of(self, seen: Sequence[Seen]) -> list[Executed]:
        """What comes of calls that were made at once, one after the other. Raises NothingAnswers before any is made."""
        if any(each.forbidden or not self._answers(each) for each in seen):
            raise NothingAnswers
        return [await self._of(each) for each in seen]

    def heard(self, calls: Sequence[Call], results: Sequence[Executed]) -> None:
        """Keep what came of calls that others made, and that went well."""
        for call, result in zip(calls, results, strict=False):
            if self._recall is not None and result.error is None:
                with suppress(ValueError, RecursionError):
                    self._recall.keep(call.name, call.arguments, result)

    async def state(self, names: Sequence[str]) -> Executed:
        """Attributes of the environment."""
        if self._open is None:
            return Executed(error="the case has no `environment`, so that there is no state")
        return await (await self._opened(self._open)).state(names)

    async def close(self) -> None:
        """Close the environment, if it was opened."""
        if self._environment is not None:
            await self._environment.close()

    def _answers(self, seen: Seen) -> bool:
        prepared = seen.canned is not None or seen.call.name in self._world.stubs
        return prepared or self._open is not None or seen.expected or self._world.unmatched != "fail"

    async def _of(self, seen: Seen) -> Executed:
        if seen.canned is not None:
            return _canned(seen.canned, seen.nth)
        if seen.call.name in self._world.stubs:
            return Executed(self._world.stubs[seen.call.name])
        if self._open is not None:
            return await (await self._opened(self._open)).call(seen.call.name, seen.call.arguments)
        if (recalled := self._recalled(seen.call)) is not None:
            return recalled
        if seen.expected:
            return Executed({"ok": True})
        unmatched = self._world.unmatched
        return Executed(error=_NOTHING_HERE) if unmatched == "error" else Executed(unmatched)

    def _recalled(self, call: Call) -> Executed | None:
        with suppress(ValueError, RecursionError):
            return self._recall.find(call.name, call.arguments) if self._recall else None
        return None

    async def _opened(self, open_environment: Open) -> Environment:
        if self._environment is None:
            self._environment = await open_environment()
        return self._environment


def _canned(canned: Canned, nth: int) -> Executed:
    """Of several results the last stays."""
    if canned.raises is not None:
        return Executed(error=canned.raises)
    return Executed(canned.returns[min(nth, len(canned.returns) - 1)] if canned.returns else None)

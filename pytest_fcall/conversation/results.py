"""What answers a call: the case itself, or what stands behind the tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from pytest_fcall.core.case import World
from pytest_fcall.core.environment import Environment, Executed
from pytest_fcall.core.expectation import Canned
from pytest_fcall.core.following import Seen

Open: TypeAlias = Callable[[], Awaitable[Environment]]

_NOTHING_HERE: Final = "nothing is known about this call"


class NothingAnswers(Exception):
    """A call that nothing may answer: the conversation ends with it."""


class Results:
    """Answers calls: by what stands beside the expected call, else by the stub of the tool, else by the environment.

    Where there is no environment, a call that is expected or allowed gives `{"ok": true}`, and `unmatched` says what
    becomes of any other. The environment is opened with the first call that needs it.
    """

    def __init__(self, world: World, open_environment: Open | None) -> None:
        self._world = world
        self._open = open_environment
        self._environment: Environment | None = None

    async def of(self, seen: Sequence[Seen]) -> list[Executed]:
        """What comes of calls that were made at once, one after the other. Raises NothingAnswers before any is made."""
        if any(each.forbidden or not self._answers(each) for each in seen):
            raise NothingAnswers
        return [await self._of(each) for each in seen]

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
        if seen.expected:
            return Executed({"ok": True})
        unmatched = self._world.unmatched
        return Executed(error=_NOTHING_HERE) if unmatched == "error" else Executed(unmatched)

    async def _opened(self, open_environment: Open) -> Environment:
        if self._environment is None:
            self._environment = await open_environment()
        return self._environment


def _canned(canned: Canned, nth: int) -> Executed:
    """Of several results the last stays."""
    if canned.raises is not None:
        return Executed(error=canned.raises)
    return Executed(canned.returns[min(nth, len(canned.returns) - 1)] if canned.returns else None)

"""The result of a call: from the case, from an environment, or from an earlier conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, Protocol, TypeAlias

from pytest_fcall.core.case import World
from pytest_fcall.core.conversation import CallResult, Environment, FollowedCall
from pytest_fcall.core.expectation import CannedResult
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json

EnvironmentOpener: TypeAlias = Callable[[], Awaitable[Environment]]

_NOTHING_HERE: Final = "nothing is known about this call"


class KnownResults(Protocol):
    """Knows what calls came to in earlier conversations. ValueError or RecursionError for what JSON cannot say."""

    def find(self, tool: str, arguments: Mapping[str, Json]) -> CallResult | None:
        """What a call came to; None where that is not known."""
        ...

    def keep(self, tool: str, arguments: Mapping[str, Json], result: CallResult) -> None:
        """Keep what a call came to."""
        ...


class NoResult(Exception):
    """A call that nothing may answer: the conversation ends with it."""


class ToolResults:
    """Answers calls: by what stands beside the expected call, else by the stub of the tool, else by the environment.

    Where there is no environment, a call gives what it came to in an earlier conversation, if `recall` knows that; else
    one that is expected or allowed gives `{"ok": true}`, and `unmatched` says what becomes of any other.
    The environment is opened with the first call that needs it.
    """

    def __init__(
        self, world: World, open_environment: EnvironmentOpener | None, recall: KnownResults | None = None
    ) -> None:
        self._world = world
        self._open = open_environment
        self._recall = recall
        self._environment: Environment | None = None

    async def of(self, seen: Sequence[FollowedCall]) -> list[CallResult]:
        """What comes of calls that were made at once, one after the other. Raises NothingAnswers before any is made."""
        if any(each.forbidden or not self._answers(each) for each in seen):
            raise NoResult
        return [await self._of(each) for each in seen]

    def heard(self, calls: Sequence[Call], results: Sequence[CallResult]) -> None:
        """Keep what came of calls that others made, and that went well."""
        for call, result in zip(calls, results, strict=False):
            if self._recall is not None and result.error is None:
                with suppress(ValueError, RecursionError):
                    self._recall.keep(call.name, call.arguments, result)

    async def state(self, names: Sequence[str]) -> CallResult:
        """Attributes of the environment."""
        if self._open is None:
            return CallResult(error="the case has no `environment`, so that there is no state")
        return await (await self._opened(self._open)).state(names)

    async def close(self) -> None:
        """Close the environment, if it was opened."""
        if self._environment is not None:
            await self._environment.close()

    def _answers(self, seen: FollowedCall) -> bool:
        prepared = seen.canned is not None or seen.call.name in self._world.stubs
        return prepared or self._open is not None or seen.expected or self._world.unmatched != "fail"

    async def _of(self, seen: FollowedCall) -> CallResult:
        if seen.canned is not None:
            return _canned(seen.canned, seen.result_index)
        if seen.call.name in self._world.stubs:
            return CallResult(self._world.stubs[seen.call.name])
        if self._open is not None:
            return await (await self._opened(self._open)).call(seen.call.name, seen.call.arguments)
        if (recalled := self._recalled(seen.call)) is not None:
            return recalled
        if seen.expected:
            return CallResult({"ok": True})
        unmatched = self._world.unmatched
        return CallResult(error=_NOTHING_HERE) if unmatched == "error" else CallResult(unmatched)

    def _recalled(self, call: Call) -> CallResult | None:
        with suppress(ValueError, RecursionError):
            return self._recall.find(call.name, call.arguments) if self._recall else None
        return None

    async def _opened(self, open_environment: EnvironmentOpener) -> Environment:
        if self._environment is None:
            self._environment = await open_environment()
        return self._environment


def _canned(canned: CannedResult, nth: int) -> CallResult:
    """Of several results the last stays."""
    if canned.raises is not None:
        return CallResult(error=canned.raises)
    return CallResult(canned.returns[min(nth, len(canned.returns) - 1)] if canned.returns else None)

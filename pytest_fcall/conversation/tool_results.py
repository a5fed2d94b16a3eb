"""The result of a call: from the case, from an environment, or from an earlier conversation; or faulty on purpose."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from pytest_fcall.core.conversation import CallResult, ConversationSettings, Environment, FollowedCall
from pytest_fcall.core.expectation import StubResult
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.core.result_fault import ResultFault

EnvironmentOpener: TypeAlias = Callable[[], Awaitable[Environment]]

_NO_RESULT: Final = "nothing is known about this call"  # models read it, and recordings depend on it
_NOT_CARRIED_OUT: Final = StubResult()


class KnownResults(Protocol):
    """Results of calls in earlier conversations. Raises ValueError or RecursionError for values that are not JSON."""

    def find(self, tool: str, arguments: Mapping[str, Json]) -> CallResult | None:
        """The result of a call; None where it is not known."""
        ...

    def keep(self, tool: str, arguments: Mapping[str, Json], result: CallResult) -> None:
        """Store the result of a call."""
        ...


class NoResult(Exception):
    """A call was made that must not be answered. It ends the conversation."""


class ToolResults:
    """Answers calls: by the result in the case, else by the stub of the tool, else by the environment.

    Without an environment, a call gets the result of an equal call in `known`, if there is one. Otherwise an expected
    or allowed call gets `{"ok": true}`, and `unmatched` decides about any other.
    The environment is opened with the first call that needs it.
    """

    def __init__(
        self,
        settings: ConversationSettings,
        open_environment: EnvironmentOpener | None,
        known: KnownResults | None = None,
    ) -> None:
        self._settings = settings
        self._open = open_environment
        self._known = known
        self._environment: Environment | None = None

    async def results(self, calls: Sequence[FollowedCall]) -> list[CallResult]:
        """The results of the calls of one reply, carried out in their order. Raises NoResult before any is made."""
        self.check(calls)
        return [await self._result(each) for each in calls]

    def check(self, calls: Sequence[FollowedCall]) -> None:
        """Raise NoResult where one of the calls must not be answered."""
        if any(each.forbidden or not self._has_result(each) for each in calls):
            raise NoResult

    def record(self, calls: Sequence[Call], results: Sequence[CallResult]) -> None:
        """Store the results of calls that an app carried out itself; errors are not stored."""
        for call, result in zip(calls, results, strict=False):
            if self._known is not None and result.error is None:
                with suppress(ValueError, RecursionError):
                    self._known.keep(call.name, call.arguments, result)

    async def state(self, names: Sequence[str]) -> CallResult:
        """These attributes of the environment."""
        if self._open is None:
            return CallResult(error="the case has no `environment`, so that there is no state")
        return await (await self._opened(self._open)).state(names)

    async def close(self) -> None:
        """Close the environment, if it was opened."""
        if self._environment is not None:
            await self._environment.close()

    def _has_result(self, followed: FollowedCall) -> bool:
        prepared = followed.stub is not None or followed.call.name in self._settings.stubs
        return prepared or self._open is not None or followed.expected or self._settings.unmatched != "fail"

    async def _result(self, followed: FollowedCall) -> CallResult:
        call = followed.call
        if followed.stub is not None:
            return _stub_value(followed.stub, followed.result_index)
        if call.name in self._settings.stubs:
            return CallResult(self._settings.stubs[call.name])
        if self._open is not None:
            return await (await self._opened(self._open)).call(call.name, call.arguments)
        if (known := self._known_result(call)) is not None:
            return known
        if followed.expected:
            return CallResult({"ok": True})
        unmatched = self._settings.unmatched
        return CallResult(error=_NO_RESULT) if unmatched == "error" else CallResult(unmatched)

    def _known_result(self, call: Call) -> CallResult | None:
        with suppress(ValueError, RecursionError):
            return self._known.find(call.name, call.arguments) if self._known else None
        return None

    async def _opened(self, open_environment: EnvironmentOpener) -> Environment:
        if self._environment is None:
            self._environment = await open_environment()
        return self._environment


def _stub_value(stub: StubResult, nth: int) -> CallResult:
    """The result of the call when it is made for the nth time; the last of several results is repeated."""
    if stub.raises is not None:
        return CallResult(error=stub.raises)
    return CallResult(stub.returns[min(nth, len(stub.returns) - 1)] if stub.returns else None)


class FaultyToolResults(ToolResults):
    """Answers calls, and the first ones of some tools with a faulty result. Nobody waits for one that is late.

    A call that timed out, or whose result is damaged, was carried out: its result got lost. Others were not.
    """

    def __init__(
        self,
        fault: ResultFault,
        settings: ConversationSettings,
        open_environment: EnvironmentOpener | None,
        known: KnownResults | None = None,
    ) -> None:
        from pytest_fcall.core.result_fault import FaultCount

        super().__init__(settings, open_environment, known)
        self._fault = fault
        self._count = FaultCount(fault)

    async def results(self, calls: Sequence[FollowedCall]) -> list[CallResult]:
        """The results of the calls of one reply. Raises NoResult before any is made."""
        self.check(calls)
        faulty = [self._count.takes(each.call.name) for each in calls]
        carried_out = [
            each if self._fault.is_carried_out or not is_faulty else replace(each, stub=_NOT_CARRIED_OUT)
            for each, is_faulty in zip(calls, faulty, strict=True)
        ]
        sound = await super().results(carried_out)
        pairs = zip(sound, faulty, strict=True)
        return [self._fault.result(result) if is_faulty else result for result, is_faulty in pairs]

"""Results of calls that are faulty on purpose, in place of sound ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pytest_fcall.conversation.tool_results import EnvironmentOpener, KnownResults, ToolResults
from pytest_fcall.core.conversation import CallResult, ConversationSettings, FollowedCall
from pytest_fcall.core.expectation import StubResult
from pytest_fcall.core.result_fault import FaultCount, ResultFault

_NOT_CARRIED_OUT: Final = StubResult()


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

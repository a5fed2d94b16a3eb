"""Results of calls, recorded like replies so that a conversation can be replayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pytest_fcall.core import CallResult, Json, digest


class ResultStore(Protocol):
    """The recorded results of one conversation."""

    offline: bool
    """Whether only recorded results may be used, and no server asked."""
    conversation_key: str
    """Identifies the conversation by its beginning: the model, its first request and the number of the sample."""

    def find(self, key: str) -> CallResult | None:
        """The recorded result of the call with this key; None where there is none that may be used."""
        ...

    def keep(self, key: str, call: Mapping[str, Json], result: CallResult) -> None:
        """Record a result; `call` describes the call for people, without secrets."""
        ...


class ResultNotRecorded(Exception):
    """A result is not recorded, and the run is offline. Without a tool, it is the state that is missing."""

    def __init__(self, tool: str | None = None) -> None:
        super().__init__(f"no recorded {f'result for this call of `{tool}`' if tool else 'state of the environment'}")


class ResultRecorder:
    """Looks up and records the results of one conversation's calls.

    The key of a call depends on all calls before it that may have changed something, and on how often it was made.
    With `reuse`, a recorded result is used online, too; else only offline.
    """

    def __init__(self, store: ResultStore | None, *, begin: str = "", reuse: bool = False) -> None:
        self._store = store
        self._reuse = reuse
        self._last_key = begin
        self._counts: Counter[str] = Counter()

    async def result(
        self,
        tool: str | None,
        call: Mapping[str, Json],
        carry_out: Callable[[], Awaitable[CallResult]],
        *,
        changes: bool = True,
        shown: Mapping[str, Json] | None = None,
    ) -> CallResult:
        """The recorded result of the call, else that of `carry_out`. Offline, raises ResultNotRecorded.

        `changes` says whether the call may change something; `shown` is written to the recording in place of `call`.
        """
        try:
            key = self._next_key(call, changes=changes)
        except (ValueError, RecursionError) as error:
            return CallResult(error=f"the arguments are not JSON: {error}")
        store = self._store
        if store is None:
            return await carry_out()
        if (store.offline or self._reuse) and (found := store.find(key)) is not None:
            return found
        if store.offline:
            raise ResultNotRecorded(tool)
        result = await carry_out()
        store.keep(key, call if shown is None else shown, result)
        return result

    def _next_key(self, call: Mapping[str, Json], *, changes: bool) -> str:
        step = digest({"after": self._last_key, "call": call})
        self._counts[step] += 1
        key = digest({"call": step, "time": self._counts[step]})
        if changes:
            self._last_key = key
        return key


@dataclass(frozen=True, slots=True)
class StoredResults:
    """Results found by the call alone, in whatever conversation it was made.

    `identity` distinguishes the tools of one environment from those of another. Raises ValueError or RecursionError
    where the arguments are not JSON.
    """

    identity: Mapping[str, Json]
    store: ResultStore

    def find(self, tool: str, arguments: Mapping[str, Json]) -> CallResult | None:
        """The result of the call; None where it is not known."""
        return self.store.find(_first_key(self._call(tool, arguments)))

    def keep(self, tool: str, arguments: Mapping[str, Json], result: CallResult) -> None:
        """Store the result of the call."""
        call = self._call(tool, arguments)
        self.store.keep(_first_key(call), call, result)

    def _call(self, tool: str, arguments: Mapping[str, Json]) -> dict[str, Json]:
        return {**self.identity, "tool": tool, "arguments": arguments}


def _first_key(call: Mapping[str, Json]) -> str:
    """The key of a call as if it were the first one of a conversation."""
    return digest({"call": digest({"after": "", "call": call}), "time": 1})

"""Results that are kept like replies, so that a conversation can be replayed without its servers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Protocol

from pytest_fcall.core import Executed, Json, digest


class Kept(Protocol):
    """What calls of one conversation came to before, and now."""

    offline: bool
    """Whether nothing counts but what is kept: no server may be asked."""
    conversation: str
    """Names the conversation by what it begins with: the model, what it is asked, and which sample it is."""

    def find(self, key: str) -> Executed | None:
        """What the call of this key came to; None where nothing is kept that may stand for it."""
        ...

    def keep(self, key: str, call: Mapping[str, Json], result: Executed) -> None:
        """Keep what the call of this key came to; `call` is the call as people see it, without secrets."""
        ...


class NotRecorded(Exception):
    """A result is not kept, and nobody may be asked. The text says of which call, without a full stop.

    Without one it is the state.
    """

    def __init__(self, tool: str | None = None) -> None:
        super().__init__(f"no {f'result of the call of `{tool}`' if tool else 'state of the environment'} is recorded")


class Story:
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

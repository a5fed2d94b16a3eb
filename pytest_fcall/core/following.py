"""What is known of a call of a conversation, the moment that it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from pytest_fcall.core.call import Call
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.expectation import Canned
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json


class Named(NamedTuple):
    """A call that `$from` may speak of, and its result where it has one."""

    arguments: Mapping[str, Json]
    result: Executed | None = None


Known: TypeAlias = Mapping[str, Named]
"""The calls made so far, by the names that the case gives them."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A call, and what the case has to say of it."""

    call: Call
    canned: Canned | None = None
    """What the case answers to it."""
    nth: int = 0
    """How often this was answered before: which of several results is next."""
    expected: bool = False
    """Whether it is expected, or allowed, or nothing is said of calls."""
    forbidden: bool = False


class Follower(Protocol):
    """Follows one turn while it goes on."""

    @property
    def known(self) -> Known:
        """All calls that have a name, those of earlier turns included."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether everything was called that must be, and nothing that may not."""
        ...

    def take(self, reply: Reply, calls: Sequence[Call]) -> list[Seen]:
        """The calls of one reply. Those before it must be answered by now."""
        ...

    def answered(self, results: Sequence[Executed]) -> None:
        """What came of the calls that were taken last."""
        ...

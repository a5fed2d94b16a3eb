"""A conversation: the environment that answers calls, the turns as they went, and the protocol that follows a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeAlias

from pytest_fcall.core.expectation import CannedResult
from pytest_fcall.core.reply import Call, Calls, Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json


@dataclass(frozen=True, slots=True)
class CallResult:
    """What came of a call: a value, or an error in words, which a model may be told."""

    value: Json = None
    error: str | None = None
    place: str | None = field(default=None, compare=False)
    """Where in the project's own code the error rose, for people: `shop/tools.py, line 7`."""


class Environment(Protocol):
    """What stands behind the tools of one conversation. Total: what goes wrong with a call is its result."""

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Carry out one call."""
        ...

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """Read the public attributes of these names, or all, as a mapping."""
        ...

    async def close(self) -> None:
        """End what was started. Called once, also after failures."""
        ...


class NamedCall(NamedTuple):
    """A call that `$from` may speak of, and its result where it has one."""

    arguments: Mapping[str, Json]
    result: CallResult | None = None


NamedCalls: TypeAlias = Mapping[str, NamedCall]
"""The calls made so far, by the names that the case gives them."""


@dataclass(frozen=True, slots=True)
class FollowedCall:
    """A call, and what the case has to say of it."""

    call: Call
    canned: CannedResult | None = None
    """What the case answers to it."""
    nth: int = 0
    """How often this was answered before: which of several results is next."""
    expected: bool = False
    """Whether it is expected, or allowed, or nothing is said of calls."""
    forbidden: bool = False


class Follower(Protocol):
    """Follows one turn while it goes on."""

    @property
    def known(self) -> NamedCalls:
        """All calls that have a name, those of earlier turns included."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether everything was called that must be, and nothing that may not."""
        ...

    def take(self, reply: Reply, calls: Sequence[Call]) -> list[FollowedCall]:
        """The calls of one reply. Those before it must be answered by now."""
        ...

    def answered(self, results: Sequence[CallResult]) -> None:
        """What came of the calls that were taken last."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """One request to the model, its reply, and what came of the calls in it, call by call."""

    request: Request
    reply: Reply
    calls: Calls
    results: tuple[CallResult, ...] = ()
    """As many as there are calls, or fewer where the conversation was ended before they were answered."""


@dataclass(frozen=True, slots=True)
class HeldTurn:
    """One turn as it went."""

    steps: tuple[Step, ...]
    end: Literal["answered", "step_limit", "stopped"]
    """`stopped` where the test ended it: a call that may not be answered, or a reply that cannot be read."""
    state: CallResult | None = None
    """The state of the environment when the turn was over, as far as the case expects anything of it."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls of the turn, in order."""
        return tuple(call for step in self.steps for call in step.calls.calls)

    @property
    def results(self) -> tuple[CallResult, ...]:
        """What came of them, as far as they were answered."""
        return tuple(result for step in self.steps for result in step.results)


@dataclass(frozen=True, slots=True)
class Transcript:
    """All turns that were begun."""

    turns: tuple[HeldTurn, ...]
    earlier: tuple[Transcript, ...] = ()
    """The conversations that were held before it, as the case says."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, in order."""
        return tuple(step for turn in self.turns for step in turn.steps)

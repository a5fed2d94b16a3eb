"""A conversation: the environment that answers calls, its transcript, and the protocol that follows a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from pytest_fcall.core.case import Case
    from pytest_fcall.core.expectation import StubResult
    from pytest_fcall.core.reply import Call, Calls, Reply
    from pytest_fcall.core.request import Request
    from pytest_fcall.core.values import Json


@dataclass(frozen=True, slots=True)
class User:
    """The simulated user of a conversation: a script, or a model with a goal."""

    script: tuple[str, ...] = ()
    model: str | None = None
    """`KIND:NAME`; None for the model under test itself."""
    goal: str = ""
    most: int = 10
    """The most messages of the user."""


@dataclass(frozen=True, slots=True)
class EnvironmentNeeds:
    """The needs of an environment beyond those of every called function."""

    missing: str = ""
    """The needs that this machine does not meet, and what to do about it. The case is then skipped."""
    memory: int = 0
    """The least address space, in bytes."""
    folders: tuple[str, ...] = ()
    """Folders outside the project that it reads."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables that it sees."""


@dataclass(frozen=True, slots=True)
class ConversationSettings:
    """The settings of a conversation: the source of results of calls, the simulated user, and limits."""

    environment: str | None = None
    setup: Mapping[str, Json] = field(default_factory=dict)
    stubs: Mapping[str, Json] = field(default_factory=dict)
    unmatched: Json = "fail"
    max_steps: int = 10
    """The most requests for each message of the user."""
    user: User | None = None
    unreadable: Literal["stops", "answers"] = "stops"
    """Whether a reply that is cut off, refuses or cannot be read ends the conversation (`stops`) or only its turn."""
    reuse_results: Literal["always", "in_order"] | None = None
    """Whether results of calls are recorded, and then used instead of another execution.

    `always` if a call always has the same result. `in_order` if it depends on the calls before, so that it is used in
    a replay only. With `always` and no environment, results that apps report answer equal calls of other models."""
    needs: EnvironmentNeeds | None = None


@dataclass(frozen=True, slots=True)
class EarlierCases:
    """Conversations that precede a case, in this order and in one environment. Equal ones are held once.

    Their environments have two attributes: the value of `left` is passed under this name to the setup of the case's own
    environment (theirs get null), and the text of `told` replaces `placeholder` in messages.
    """

    cases: tuple[Case, ...]
    placeholder: str


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call: a value, or an error message that a model may see."""

    value: Json = None
    error: str | None = None
    place: str | None = field(default=None, compare=False)
    """The place in the project's own code that raised the error, for people: `shop/tools.py, line 7`."""
    fault: str | None = field(default=None, compare=False)
    """The kind of the fault where the result is faulty on purpose; the model does not see it."""


class Environment(Protocol):
    """Executes the calls of one conversation. Never raises: a failure of a call is its result."""

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Execute one call."""
        ...

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """Give the public attributes of these names, or all, as a mapping."""
        ...

    async def close(self) -> None:
        """Release all resources. Called once, also after failures."""
        ...


class NamedCall(NamedTuple):
    """A call to which `$from` may refer, and its result if it has one."""

    arguments: Mapping[str, Json]
    result: CallResult | None = None


NamedCalls: TypeAlias = Mapping[str, NamedCall]
"""The calls made so far, by their names in the case."""


@dataclass(frozen=True, slots=True)
class FollowedCall:
    """A call of the model, and its role in the case."""

    call: Call
    stub: StubResult | None = None
    """The result that the case gives to it."""
    result_index: int = 0
    """The index of its result, where the case gives several."""
    expected: bool = False
    """Whether it is expected or allowed, or the case has no expectation on calls."""
    forbidden: bool = False


class Follower(Protocol):
    """Follows one turn, reply by reply."""

    @property
    def known(self) -> NamedCalls:
        """All calls with a name, including those of earlier turns."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether all required calls were made, and no forbidden one."""
        ...

    def follow(self, reply: Reply, calls: Sequence[Call]) -> list[FollowedCall]:
        """Follow the calls of one reply. The calls before it must have results by now."""
        ...

    def record_results(self, results: Sequence[CallResult]) -> None:
        """Record the results of the calls that were followed last."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """One request to the model, its reply, and the result of each call in it."""

    request: Request
    reply: Reply
    calls: Calls
    results: tuple[CallResult, ...] = ()
    """One for each call, or fewer where the conversation ended before."""


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """One turn of a transcript."""

    steps: tuple[Step, ...]
    end: Literal["answered", "step_limit", "stopped"]
    """`stopped` where the test ended the turn, because of a call without a result or a reply that cannot be read."""
    state: CallResult | None = None
    """The state of the environment after the turn, as far as the case has expectations on it."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls of the turn, in order."""
        return tuple(call for step in self.steps for call in step.calls.calls)

    @property
    def results(self) -> tuple[CallResult, ...]:
        """The results of the calls that have one."""
        return tuple(result for step in self.steps for result in step.results)


@dataclass(frozen=True, slots=True)
class Transcript:
    """All turns of a conversation that began."""

    turns: tuple[TranscriptTurn, ...]
    earlier: tuple[Transcript, ...] = ()
    """The conversations that preceded it, as the case requires."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, in order."""
        return tuple(step for turn in self.turns for step in turn.steps)

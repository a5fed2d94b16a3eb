"""A case, and the protocols of judges that a suite may bring along."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from pytest_fcall.core.app_exchange import WireExpectation
from pytest_fcall.core.conversation import Transcript
from pytest_fcall.core.expectation import CallPattern, Expectation, ExpectedCall, Rules
from pytest_fcall.core.fault import Fault, Location
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.core.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Turn:
    """What is said to the model at once, and what is expected of it before the next turn."""

    messages: tuple[Message, ...]
    expect: Expectation | None = None
    answer: Pattern = None
    state: Mapping[str, Pattern] | None = None
    result: Pattern = None
    tools: tuple[Tool, ...] | None = None
    """What is offered from here on; None where that is what was offered before, at first all tools of the case."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A `skip` or `xfail` with its reason, for the models whose names match one of `models` (none: all)."""

    reason: str
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Samples:
    """How often a case is asked, and how many of the answers must be right.

    `count` None means as often as it takes to decide (`auto`). `rule` is `all`, `any` or `rate>=0.8`.
    """

    count: int | None
    rule: str = "all"


@dataclass(frozen=True, slots=True)
class User:
    """Who goes on talking when the model has answered: a script, or a model with a goal."""

    script: tuple[str, ...] = ()
    model: str | None = None
    """`KIND:NAME`; None for the model under test itself."""
    goal: str = ""
    most: int = 10
    """How often it may speak."""


@dataclass(frozen=True, slots=True)
class EnvironmentNeeds:
    """What an environment needs that is not there for every called function."""

    lacking: str = ""
    """What this machine lacks of it, and what to do about that: the case is skipped."""
    memory: int = 0
    """Bytes of address space, at least."""
    folders: tuple[str, ...] = ()
    """What it reads outside the project."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables that it sees."""


@dataclass(frozen=True, slots=True)
class World:
    """What stands behind the tools when they are really called, and before the model."""

    environment: str | None = None
    setup: Mapping[str, Json] = field(default_factory=dict)
    stubs: Mapping[str, Json] = field(default_factory=dict)
    unmatched: Json = "fail"
    max_steps: int = 10
    """How many requests each thing that the user says may take."""
    user: User | None = None
    unreadable: Literal["stops", "answers"] = "stops"
    """What a reply does that is cut off, refuses or cannot be read: it ends the conversation, or only its turn."""
    kept: Literal["for_ever", "in_order"] | None = None
    """Whether what calls came to is kept, and stands for calling again: `for_ever` where a call always gives the same,
    `in_order` where that depends on the calls before, so that it stands for nothing but a replay. `for_ever` without an
    environment, what apps say that their calls came to answers equal calls of others."""
    needs: EnvironmentNeeds | None = None


@dataclass(frozen=True, slots=True)
class EarlierCases:
    """Conversations that are held before a case, in this order and in one environment. Equal ones are held once.

    Environments, theirs and that of the case, have two attributes for it: `left`, with which the case's own is set up
    under this name (theirs with null), and `told`, a text that stands in messages in the place of `slot`.
    """

    cases: tuple[Case, ...]
    slot: str


RetrieverName: TypeAlias = Literal["bm25", "embeddings", "oracle"]


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How the tools that are offered are chosen from those of the case."""

    by: RetrieverName
    k: int = 5
    """How many are offered."""
    model: str | None = None
    """What makes embeddings."""


@dataclass(frozen=True, slots=True)
class Case:
    """An exam question, complete: nothing it needs stands elsewhere."""

    id: str
    location: Location
    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...] = ()
    rules: Rules = field(default_factory=Rules)
    category: str = "simple"
    tags: tuple[str, ...] = ()
    skip: tuple[Condition, ...] = ()
    xfail: tuple[Condition, ...] = ()
    samples: Samples | None = None
    settings: Mapping[str, Json] = field(default_factory=dict, repr=False)
    decoder: str | None = None
    world: World | None = None
    wire: WireExpectation | None = None
    """What an app may ask of models on its way; says nothing of models that are asked themselves."""
    mode: Literal["request", "conversation"] = "request"
    """A `conversation` needs more than one request: turns, canned results, an environment."""
    retrieve: Retrieval | None = None
    """Who chooses among `tools`; None where all are offered."""
    earlier: EarlierCases | None = None
    """What is held before it, and leaves something to it."""
    suite: str = ""
    """The suite that it was read from, if any."""
    tools_told: bool = False
    """Whether the messages tell of the tools, so that they are not sent beside them."""
    judge: Judge | None = field(default=None, repr=False, compare=False)
    """Who judges replies, where the expectation does not say all."""
    conversation_judge: ConversationJudge | None = field(default=None, repr=False, compare=False)
    """Who judges conversations, likewise."""

    @property
    def expected_calls(self) -> tuple[ExpectedCall, ...]:
        """All calls that it expects, of the model or inside an app."""
        expected = [turn.expect for turn in self.turns] + [self.wire.calls if self.wire else None]
        return tuple(call for each in expected if each is not None for call in each.all_calls)


class Judge(Protocol):
    """Judges a reply to a case. Total: whatever a model says gives a verdict."""

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge by the profile of the case's rules.

        `calls` are those that were decoded from the reply. Calls of a baseline are judged again with a reply that
        holds none of them.
        """
        ...


class ConversationJudge(Protocol):
    """Judges a conversation about a case. Total, as Judge is."""

    def __call__(self, case: Case, transcript: Transcript, /) -> Verdict:
        """Judge what was held of it. That of a baseline has the calls of each step, and no reply but the last."""
        ...


def judge_fault(case: Case) -> Fault | None:
    """What its judge finds wrong with a case, if it has a method `fault()` to say so.

    It is asked when the case is to run, since checking what is right may take longer than reading it.
    """
    fault: Callable[[], Fault | None] | None = getattr(case.judge, "fault", None)
    return fault() if fault else None


def case_operators(case: Case) -> Iterator[Operator]:
    """Give every operator in what a case expects, allows and forbids, and in its rules."""
    for turn in case.turns:
        if turn.expect is not None:
            yield from _expectation_operators(turn.expect)
        yield from pattern_operators([turn.answer, turn.state, turn.result])
    if case.wire is not None:
        wire = case.wire
        yield from pattern_operators([wire.count, wire.tools, wire.models, wire.tokens, wire.cost])
        yield from _expectation_operators(wire.calls or Expectation())
    yield from pattern_operators([rule.operator for rule in case.rules.match])
    yield from _call_operators(case.rules.never)


def pattern_operators(pattern: Pattern) -> Iterator[Operator]:
    """Give every operator in a pattern, however deep; what stands in `$literal` is none."""
    waiting = [pattern]
    while waiting:
        match waiting.pop():
            case Operator() as operator:
                yield operator
                if operator.name != "literal":
                    waiting += [operator.operand, *operator.options.values()]
            case Mapping() as mapping:
                waiting += mapping.values()
            case list() | tuple() as items:
                waiting += items


def _expectation_operators(expectation: Expectation) -> Iterator[Operator]:
    for stage in expectation.stages:
        yield from _call_operators(stage)
    yield from _call_operators((*expectation.allow, *expectation.never))
    for alternative in expectation.alternatives:
        yield from _expectation_operators(alternative)


def _call_operators(calls: tuple[ExpectedCall | CallPattern, ...]) -> Iterator[Operator]:
    for call in calls:
        yield from pattern_operators(call.arguments)
        if isinstance(call, ExpectedCall):
            yield from pattern_operators(call.result)

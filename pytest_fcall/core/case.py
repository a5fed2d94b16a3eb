"""A case, the mistakes in one that is faulty, and the protocols of the judges that a suite may provide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias

from pytest_fcall.core.expectation import Expectation, ExpectedCall, Rules
from pytest_fcall.core.operators import Operator, Pattern, pattern_operators

if TYPE_CHECKING:
    from pytest_fcall.core.app import SpansExpectation, WireExpectation
    from pytest_fcall.core.conversation import ConversationSettings, EarlierCases, Transcript
    from pytest_fcall.core.injection import Injection
    from pytest_fcall.core.reply import Calls, Reply
    from pytest_fcall.core.request import Tool, Wording
    from pytest_fcall.core.result_fault import ResultFault
    from pytest_fcall.core.values import Json, Message
    from pytest_fcall.core.variants import WantedRelation
    from pytest_fcall.core.verdict import Verdict

ATTACK: Final = "attack"
"""The tag and the category of a case under attack."""
FAULT: Final = "fault"
"""The tag and the category of a case with a faulty result."""


class Location(NamedTuple):
    """A place in a file; lines and columns count from one."""

    path: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Turn:
    """Messages that are sent to the model together, and the expectations before the next turn."""

    messages: tuple[Message, ...]
    expect: Expectation | None = None
    answer: Pattern = None
    state: Mapping[str, Pattern] | None = None
    result: Pattern = None
    tools: tuple[Tool, ...] | None = None
    """The tools offered from this turn on; None for no change. At first all tools of the case are offered."""


class Condition(NamedTuple):
    """A `skip` or `xfail` with its reason, for models whose names match one of `models`; for all if there is none."""

    reason: str
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Samples:
    """The number of requests for a case, and how many of the replies must be valid: `all`, `any` or `rate>=0.8`."""

    count: int
    rule: str = "all"


RetrieverName: TypeAlias = Literal["bm25", "embeddings", "oracle"]


class Retrieval(NamedTuple):
    """The choice of the offered tools among those of the case."""

    by: RetrieverName
    k: int = 5
    """The number of offered tools."""
    model: str | None = None
    """The model that makes embeddings."""


@dataclass(frozen=True, slots=True)
class Case:
    """A case without faults: messages, tools, expectations and settings."""

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
    variants: tuple[WantedRelation, ...] | None = None
    """The relations that it is varied by; none of them where that is empty, whatever a run wants."""
    settings: Mapping[str, Json] = field(default_factory=dict, repr=False)
    proposed_settings: Mapping[str, Json] = field(default_factory=dict, repr=False)
    """Settings of a benchmark's own programs. Those of the model, the file and the case replace them."""
    decoder: str | None = None
    conversation: ConversationSettings | None = None
    wire: WireExpectation | None = None
    """Expectations on the requests of an app; models that are asked directly are not subject to them."""
    spans: SpansExpectation | None = None
    """Expectations on the spans of an app, in the same way."""
    mode: Literal["request", "conversation"] = "request"
    """A `conversation` needs more than one request: turns, stubbed results, an environment."""
    injection: Injection | None = None
    """The attack that results of tools carry; None without one."""
    result_fault: ResultFault | None = None
    """The fault that is put into results of tools; None for none."""
    retrieve: Retrieval | None = None
    """The choice among `tools`; None where all are offered."""
    earlier: EarlierCases | None = None
    """Conversations that precede the case."""
    suite: str = ""
    """The name of its suite; empty for other cases."""
    tools_in_messages: bool = False
    """Whether the messages describe the tools, so that the request has no tools."""
    wording: Wording | None = field(default=None, repr=False, compare=False)
    """Writes its requests as the programs of a benchmark do."""
    undated: Case | None = field(default=None, repr=False, compare=False)
    """The same case on another day, which is the same for each run; None where the clock says nothing, or is set."""
    judge: Judge | None = field(default=None, repr=False, compare=False)
    """Judges replies instead of the expectation alone."""
    conversation_judge: ConversationJudge | None = field(default=None, repr=False, compare=False)
    """Judges conversations instead of the expectations alone."""

    @property
    def expected_calls(self) -> tuple[ExpectedCall, ...]:
        """All expected calls, of the model or inside an app."""
        inside = [each.calls for each in (self.wire, self.spans) if each is not None]
        expected = [turn.expect for turn in self.turns] + inside
        return tuple(call for each in expected if each is not None for call in each.all_calls)


class Fault(NamedTuple):
    """One mistake: where it is, what is wrong, and how to correct it."""

    code: str
    """A stable short name, such as `unknown-tool`, under which the documentation explains the mistake."""
    location: Location
    message: str
    source: str = ""
    """The line with the mistake."""
    hint: str = ""


class FaultyCase(NamedTuple):
    """A case that cannot be run. It becomes an item that ends in an error."""

    id: str
    location: Location
    faults: tuple[Fault, ...]
    tags: tuple[str, ...] = ()
    """Those that can be read."""
    has_all_tags: bool = False
    """Whether these are all that it is meant to have. If not, a selection by tags does not leave it out."""


class Judge(Protocol):
    """Judges a reply to a case. Never raises: every reply has a verdict."""

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge a reply by the profile of the case's rules.

        `calls` are those decoded from the reply. Calls of a baseline are judged again with a reply without raw calls.
        """
        ...


class ConversationJudge(Protocol):
    """Judges a conversation about a case. Never raises."""

    def __call__(self, case: Case, transcript: Transcript, /) -> Verdict:
        """Judge a conversation. One of a baseline has the calls of each step, and only the last reply."""
        ...


def judge_fault(case: Case) -> Fault | None:
    """Give the mistake that the judge of a case finds in it, if the judge has a method `fault()`.

    Call it when the case is about to run: checking the expected answer may take longer than reading the case.
    """
    fault: Callable[[], Fault | None] | None = getattr(case.judge, "fault", None)
    return fault() if fault else None


def with_case_decoder(case: Case, reply: Reply) -> Reply:
    """The reply, to be read by the case's own decoder if it names one."""
    return replace(reply, decoder=case.decoder) if case.decoder else reply


def asks_judge_model(case: Case) -> bool:
    """Whether the verdict of a case may depend on a model that judges."""
    return any(operator.name == "judge" for operator in case_operators(case))


def case_operators(case: Case) -> Iterator[Operator]:
    """Give every operator in the expectations and the rules of a case."""
    patterns: list[Pattern] = []
    for turn in case.turns:
        if turn.expect is not None:
            _add_patterns(turn.expect, patterns)
        patterns += (turn.answer, turn.state, turn.result)
    if case.result_fault is not None:
        patterns.append(case.result_fault.answer)
    if case.wire is not None:
        wire = case.wire
        patterns += (wire.count, wire.tools, wire.models, wire.tokens, wire.cost)
        _add_patterns(wire.calls or Expectation(), patterns)
    if case.spans is not None:
        patterns.append(case.spans.models)
        _add_patterns(case.spans.calls or Expectation(), patterns)
    patterns += [rule.operator for rule in case.rules.match]
    patterns += [call.arguments for call in case.rules.never]
    return pattern_operators(patterns)


def _add_patterns(expectation: Expectation, patterns: list[Pattern]) -> None:
    """Add what the expectation compares with, to be searched in one go: most cases run through here."""
    for stage in expectation.stages:
        for call in stage:
            patterns.append(call.arguments)
            if call.result is not None:
                patterns.append(call.result)
    patterns += [call.arguments for call in (*expectation.allow, *expectation.never)]
    for alternative in expectation.alternatives:
        _add_patterns(alternative, patterns)

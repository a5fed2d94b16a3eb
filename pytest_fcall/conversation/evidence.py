"""The data that scores are computed from: the expected and the actual calls, answers and states, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import nan
from typing import Final, Literal, TypeAlias

from pytest_fcall.conversation.score_formulas import ComparedCalls
from pytest_fcall.core.case import Case, Turn
from pytest_fcall.core.conversation import CallResult, Transcript, TranscriptTurn
from pytest_fcall.core.expectation import Expectation, ExpectedCall, chosen_alternative
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, path_text
from pytest_fcall.core.verdict import ReasonKind, Verdict
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.tool_schema import tool_schema

Subject: TypeAlias = Literal["calls", "answer", "state", "reply", "judge"]
"""The part of a case that a score is about. Every case has a reply; it may expect calls, an answer or a state."""

_UNANSWERED: Final[frozenset[ReasonKind]] = frozenset(
    {"wrong_answer", "malformed", "truncated", "refused", "step_limit"}
)

UNMET: Final = nan
"""The value of an operator that was not met: it equals nothing, and is not valid JSON."""

Leaves: TypeAlias = dict[tuple[str, ...], Json]
"""The values of an object and of nested objects, by their keys."""


@dataclass(frozen=True, slots=True)
class ConversationEvidence:
    """The evidence of a whole conversation. A part that the case does not expect anything of is None."""

    calls: ComparedCalls | None
    answer: bool | None
    """Whether every answer is right."""
    state: tuple[Leaves, Leaves] | None
    """The last state as it should be, and as it is."""
    executable: bool
    """Whether all calls could be carried out."""


def subjects_of(case: Case) -> frozenset[Subject]:
    """The parts of a case that it expects something of."""
    subjects: set[Subject] = {"reply"}
    if any(turn.expect is not None and turn.expect.kind != "any_call" for turn in case.turns):
        subjects.add("calls")
    if any(turn.answer is not None for turn in case.turns):
        subjects.add("answer")
    if any(turn.state is not None for turn in case.turns):
        subjects.add("state")
    if case.judge is not None:
        subjects.add("judge")
    return frozenset(subjects)


def evidence_of(case: Case, transcript: Transcript, verdict: Verdict) -> ConversationEvidence:
    """The evidence of a judged conversation. A turn that was not reached has no calls, no answer and no state."""
    verdicts = verdict.turns or (verdict,)
    never = TranscriptTurn((), "stopped")
    turns = [
        _TurnEvidence(
            turn,
            transcript.turns[number] if number < len(transcript.turns) else never,
            verdicts[number] if number < len(verdicts) else Verdict(False),
        )
        for number, turn in enumerate(case.turns)
    ]
    answers = [each.is_answered for each in turns if each.turn.answer is not None]
    states = [state for each in turns if (state := each.state) is not None]
    return ConversationEvidence(
        calls=_joined([calls for each in turns if (calls := each.calls) is not None]),
        answer=all(answers) if answers else None,
        state=states[-1] if states else None,
        executable=all(_is_executable(held, case.tools) for held in transcript.turns),
    )


@dataclass(frozen=True, slots=True)
class _TurnEvidence:
    """A turn as expected, as held, and as judged."""

    turn: Turn
    held: TranscriptTurn
    verdict: Verdict

    @property
    def calls(self) -> ComparedCalls | None:
        if self.turn.expect is None:
            return None
        return settled_calls(self.turn.expect, self.held.calls, self.verdict)

    @property
    def is_answered(self) -> bool:
        wrong = any(reason.kind in _UNANSWERED for reason in self.verdict.reasons)
        return self.held.end == "answered" and not wrong

    @property
    def state(self) -> tuple[Leaves, Leaves] | None:
        if self.turn.state is None:
            return None
        return settled_state(self.turn.state, self.held.state.value if self.held.state else None, self.verdict)


def _joined(turns: Sequence[ComparedCalls]) -> ComparedCalls | None:
    if not turns:
        return None
    right, made = zip(*turns, strict=True)
    return list(chain.from_iterable(right)), list(chain.from_iterable(made))


def _is_executable(held: TranscriptTurn, tools: Sequence[Tool]) -> bool:
    return all(
        step.calls.malformed is None
        and all(_could_be_made(call, result, held, tools) for call, result in _answered(step.calls.calls, step.results))
        for step in held.steps
    )


def _answered(calls: Sequence[Call], results: Sequence[CallResult]) -> Iterator[tuple[Call, CallResult | None]]:
    for number, call in enumerate(calls):
        yield call, results[number] if number < len(results) else None


def _could_be_made(call: Call, result: CallResult | None, held: TranscriptTurn, tools: Sequence[Tool]) -> bool:
    """Whether the result is no error. Without a result: whether the tool was offered and accepts the arguments."""
    if result is not None:
        return result.error is None
    if held.end == "stopped":
        return False
    tool = next((tool for tool in tools if tool.name == call.name), None)
    try:
        return tool is not None and not tool_schema(tool).check(call.arguments)
    except SchemaError:
        return True


def settled_calls(
    expectation: Expectation, made: Sequence[Call], verdict: Verdict
) -> tuple[list[Call], list[Call]] | None:
    """The right calls and the calls made, without what does not matter; None where any call is right.

    Of alternatives, the one that the verdict chose counts. A right argument has the value that was given, whatever its
    operator. Optional arguments that are missing, and allowed arguments that the case does not name, are left out.
    """
    chosen = chosen_alternative(expectation, verdict.alternative)
    if chosen.kind == "any_call":
        return None
    expected = [call for stage in chosen.stages for call in stage]
    findings = _Findings(verdict)
    pairs = [pair for pair in sorted(verdict.pairs) if _is_same_tool(*pair, expected, made)]
    right = [call for place, each in enumerate(expected) for call in _right_calls(place, each, pairs, made, findings)]
    expected_of = {index: expected[place] for place, index in pairs}
    return right, [_without_unasked(call, index, expected_of.get(index), findings) for index, call in enumerate(made)]


def settled_state(expected: Mapping[str, Pattern], state: Json, verdict: Verdict) -> tuple[Leaves, Leaves]:
    """The state as it should be and as it is, as leaves. Operators are replaced as in `settled_calls`.

    A state that is not an object, as after a conversation that did not end, is empty.
    """
    if not isinstance(state, Mapping):
        return dict(_leaves(_plain(expected), ())), {}
    return dict(_right_leaves(expected, state, (), _Findings(verdict))), dict(_leaves(state, ()))


class _Findings:
    """The places of a verdict's reasons."""

    def __init__(self, verdict: Verdict) -> None:
        self._paths = [reason.path for reason in verdict.reasons]

    def has_reason(self, *keys: str | int) -> bool:
        """Whether there is a reason at this place, inside it, or for all arguments together."""
        if not self._paths:
            return False
        path = path_text(keys)
        whole = path_text(keys[:3]) if keys[0] == "calls" else path
        return any(each in (path, whole) or each.startswith((f"{path}.", f"{path}[")) for each in self._paths)


def _is_same_tool(place: int, index: int, expected: Sequence[ExpectedCall], made: Sequence[Call]) -> bool:
    return place < len(expected) and index < len(made) and expected[place].tool == made[index].name


def _right_calls(
    place: int, expected: ExpectedCall, pairs: Sequence[tuple[int, int]], made: Sequence[Call], findings: _Findings
) -> Iterator[Call]:
    """The expected call, as often as it was made, and at least as often as required."""
    patterns = expected.arguments or {}
    indexes = [index for other, index in pairs if other == place]
    for index in indexes:
        yield Call(expected.tool, dict(_arguments(patterns, made[index].arguments, index, findings)))
    for _ in range(expected.times[0] - len(indexes)):
        yield Call(expected.tool, {name: _plain(value) for name, value in patterns.items() if not _is_free(value)})


def _arguments(
    patterns: Mapping[str, Pattern], given: Mapping[str, Json], index: int, findings: _Findings
) -> Iterator[tuple[str, Json]]:
    for name, pattern in patterns.items():
        if findings.has_reason("calls", index, "args", name):
            yield name, _plain(pattern)
        elif name in given and not _is_ignored(pattern):
            yield name, given[name]


def _without_unasked(call: Call, index: int, expected: ExpectedCall | None, findings: _Findings) -> Call:
    """A call without arguments that neither the case names nor a reason is about."""
    if expected is None:
        return call
    asked = {name for name, value in (expected.arguments or {}).items() if not _is_ignored(value)}
    kept = {
        name: value
        for name, value in call.arguments.items()
        if name in asked or findings.has_reason("calls", index, "args", name)
    }
    return Call(call.name, kept)


def _right_leaves(
    expected: Mapping[str, Pattern], got: Mapping[str, Json], above: tuple[str, ...], findings: _Findings
) -> Iterator[tuple[tuple[str, ...], Json]]:
    for name, pattern in expected.items():
        keys, value = (*above, name), got.get(name)
        if isinstance(pattern, Mapping) and isinstance(value, Mapping):
            yield from _right_leaves(pattern, value, keys, findings)
        elif findings.has_reason("state", *keys):
            yield from _leaves(_plain(pattern), keys)
        elif name in got:
            yield from _leaves(value, keys)


def _leaves(value: Json, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Json]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, (*keys, name))
    else:
        yield keys, value


def _plain(pattern: Pattern) -> Json:
    """The value of a pattern that was not met."""
    match pattern:
        case Operator("literal", value):
            return _plain(value)
        case Operator():
            return UNMET
        case Mapping():
            return {name: _plain(value) for name, value in pattern.items()}
        case str() | int() | float() | None:
            return pattern
    return [_plain(item) for item in pattern]


def _is_free(pattern: Pattern) -> bool:
    return isinstance(pattern, Operator) and pattern.name in ("ignore", "optional")


def _is_ignored(pattern: Pattern) -> bool:
    return isinstance(pattern, Operator) and pattern.name == "ignore"

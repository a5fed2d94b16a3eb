"""The data that scores are computed from: what a case expects beside what the model did, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import nan
from typing import Final, Literal, TypeAlias

from pytest_fcall.core.case import Case, Turn
from pytest_fcall.core.conversation import CallResult, HeldTurn, Transcript
from pytest_fcall.core.expectation import Expectation, ExpectedCall, chosen_alternative
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import ReasonKind, Verdict
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.tool_schema import tool_schema
from pytest_fcall.schema.value_text import path_text

UNMET: Final = nan
"""Stands for an operator that was not met: it equals nothing, and no model can say it."""

Leaves: TypeAlias = dict[tuple[str, ...], Json]
"""The values of an object and of the objects in it, by their keys."""


def settled_calls(
    expectation: Expectation, made: Sequence[Call], verdict: Verdict
) -> tuple[list[Call], list[Call]] | None:
    """Give the calls that are right and the calls made; None where the case does not say which are right.

    Of alternatives, that one counts which the verdict speaks of. An argument that the verdict found right has the value
    that was given. What may be left out and is, or is given though the case does not name it, counts on neither side.
    """
    taken = chosen_alternative(expectation, verdict.alternative)
    if taken.kind == "any_call":
        return None
    expected = [call for stage in taken.stages for call in stage]
    wrong = _Findings(verdict)
    pairs = [pair for pair in sorted(verdict.pairs) if _is_same_tool(*pair, expected, made)]
    right = [call for place, each in enumerate(expected) for call in _right_calls(place, each, pairs, made, wrong)]
    expected_of = {index: expected[place] for place, index in pairs}
    return right, [_without_unasked(call, index, expected_of.get(index), wrong) for index, call in enumerate(made)]


def settled_state(expected: Mapping[str, Pattern], state: Json, verdict: Verdict) -> tuple[Leaves, Leaves]:
    """Give what a state should have held and what it holds, key by key, however deep. Operators as above.

    What is no object, as where the conversation did not come to its end, holds nothing.
    """
    if not isinstance(state, Mapping):
        return dict(_leaves(_plain(expected), ())), {}
    return dict(_right_leaves(expected, state, (), _Findings(verdict))), dict(_leaves(state, ()))


class _Findings:
    """Where a verdict found something wrong."""

    def __init__(self, verdict: Verdict) -> None:
        self._paths = [reason.path for reason in verdict.reasons]

    def at(self, *keys: str | int) -> bool:
        """Whether something is wrong there or inside, or with all arguments together."""
        if not self._paths:
            return False
        path = path_text(keys)
        whole = path_text(keys[:3]) if keys[0] == "calls" else path
        return any(each in (path, whole) or each.startswith((f"{path}.", f"{path}[")) for each in self._paths)


def _is_same_tool(place: int, index: int, expected: Sequence[ExpectedCall], made: Sequence[Call]) -> bool:
    return place < len(expected) and index < len(made) and expected[place].tool == made[index].name


def _right_calls(
    place: int, expected: ExpectedCall, pairs: Sequence[tuple[int, int]], made: Sequence[Call], wrong: _Findings
) -> Iterator[Call]:
    """An expected call as often as it was made, and as it must be at least."""
    patterns = expected.arguments or {}
    indexes = [index for other, index in pairs if other == place]
    for index in indexes:
        yield Call(expected.tool, dict(_arguments(patterns, made[index].arguments, index, wrong)))
    for _ in range(expected.times[0] - len(indexes)):
        yield Call(expected.tool, {name: _plain(value) for name, value in patterns.items() if not _is_free(value)})


def _arguments(
    patterns: Mapping[str, Pattern], given: Mapping[str, Json], index: int, wrong: _Findings
) -> Iterator[tuple[str, Json]]:
    for name, pattern in patterns.items():
        if wrong.at("calls", index, "args", name):
            yield name, _plain(pattern)
        elif name in given and not _is_ignored(pattern):
            yield name, given[name]


def _without_unasked(call: Call, index: int, expected: ExpectedCall | None, wrong: _Findings) -> Call:
    """A call without the arguments that do not matter: nobody asked for them, and nothing is wrong with them."""
    if expected is None:
        return call
    asked = {name for name, value in (expected.arguments or {}).items() if not _is_ignored(value)}
    kept = {
        name: value for name, value in call.arguments.items() if name in asked or wrong.at("calls", index, "args", name)
    }
    return Call(call.name, kept)


def _right_leaves(
    expected: Mapping[str, Pattern], got: Mapping[str, Json], above: tuple[str, ...], wrong: _Findings
) -> Iterator[tuple[tuple[str, ...], Json]]:
    for name, pattern in expected.items():
        keys, value = (*above, name), got.get(name)
        if isinstance(pattern, Mapping) and isinstance(value, Mapping):
            yield from _right_leaves(pattern, value, keys, wrong)
        elif wrong.at("state", *keys):
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
    """A pattern that was not met, as a value."""
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


Subject: TypeAlias = Literal["calls", "answer", "state", "reply", "judge"]
"""What a case must say something of to be scored for it; there is always a reply."""

ComparedCalls: TypeAlias = tuple[Sequence[Call], Sequence[Call]]
"""The calls that are right, and those that were made."""

_UNANSWERED: Final[frozenset[ReasonKind]] = frozenset(
    {"wrong_answer", "malformed", "truncated", "refused", "step_limit"}
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of a whole conversation; what the case says nothing of is None."""

    calls: ComparedCalls | None
    answer: bool | None
    """Whether every answer is right."""
    state: tuple[Leaves, Leaves] | None
    """What the last state should have held, and what it holds."""
    executable: bool
    """Whether every call could be carried out."""


def subjects_of(case: Case) -> frozenset[Subject]:
    """What a case says something of."""
    found: set[Subject] = {"reply"}
    if any(turn.expect is not None and turn.expect.kind != "any_call" for turn in case.turns):
        found.add("calls")
    if any(turn.answer is not None for turn in case.turns):
        found.add("answer")
    if any(turn.state is not None for turn in case.turns):
        found.add("state")
    if case.judge is not None:
        found.add("judge")
    return frozenset(found)


def evidence_of(case: Case, transcript: Transcript, verdict: Verdict) -> Evidence:
    """Gather it. A turn that was never reached has no calls, no answer and no state."""
    verdicts = verdict.turns or (verdict,)
    never = HeldTurn((), "stopped")
    told = [
        _TurnEvidence(
            turn,
            transcript.turns[number] if number < len(transcript.turns) else never,
            verdicts[number] if number < len(verdicts) else Verdict(False),
        )
        for number, turn in enumerate(case.turns)
    ]
    answers = [each.is_answered for each in told if each.turn.answer is not None]
    states = [state for each in told if (state := each.state) is not None]
    return Evidence(
        calls=_joined([calls for each in told if (calls := each.calls) is not None]),
        answer=all(answers) if answers else None,
        state=states[-1] if states else None,
        executable=all(_is_executable(held, case.tools) for held in transcript.turns),
    )


@dataclass(frozen=True, slots=True)
class _TurnEvidence:
    """A turn, how it went, and what the verdict says of it."""

    turn: Turn
    held: HeldTurn
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


def _is_executable(held: HeldTurn, tools: Sequence[Tool]) -> bool:
    return all(
        step.calls.malformed is None
        and all(_could_be_made(call, result, held, tools) for call, result in _answered(step.calls.calls, step.results))
        for step in held.steps
    )


def _answered(calls: Sequence[Call], results: Sequence[CallResult]) -> Iterator[tuple[Call, CallResult | None]]:
    for number, call in enumerate(calls):
        yield call, results[number] if number < len(results) else None


def _could_be_made(call: Call, result: CallResult | None, held: HeldTurn, tools: Sequence[Tool]) -> bool:
    """As its result says; where calls are not carried out, whether its tool was offered and takes the arguments."""
    if result is not None:
        return result.error is None
    if held.end == "stopped":
        return False
    tool = next((tool for tool in tools if tool.name == call.name), None)
    try:
        return tool is not None and not tool_schema(tool).check(call.arguments)
    except SchemaError:
        return True

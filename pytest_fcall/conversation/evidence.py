"""What scores are made of: what a case says is right, beside what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal, TypeAlias

from pytest_fcall.conversation.settled import Leaves, settled_calls, settled_state
from pytest_fcall.core.call import Call
from pytest_fcall.core.case import Case, Turn
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.transcript import Held, Transcript
from pytest_fcall.core.verdict import ReasonKind, Verdict
from pytest_fcall.schema import SchemaError, tool_schema

Subject: TypeAlias = Literal["calls", "answer", "state", "reply", "judge"]
"""What a case must say something of to be scored for it; there is always a reply."""

Both: TypeAlias = tuple[Sequence[Call], Sequence[Call]]
"""The calls that are right, and those that were made."""

_UNANSWERED: Final[frozenset[ReasonKind]] = frozenset(
    {"wrong_answer", "malformed", "truncated", "refused", "step_limit"}
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of a whole conversation; what the case says nothing of is None."""

    calls: Both | None
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
    never = Held((), "stopped")
    told = [
        _Told(
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
class _Told:
    """A turn, how it went, and what the verdict says of it."""

    turn: Turn
    held: Held
    verdict: Verdict

    @property
    def calls(self) -> Both | None:
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


def _joined(turns: Sequence[Both]) -> Both | None:
    if not turns:
        return None
    right, made = zip(*turns, strict=True)
    return list(chain.from_iterable(right)), list(chain.from_iterable(made))


def _is_executable(held: Held, tools: Sequence[Tool]) -> bool:
    return all(
        step.calls.malformed is None
        and all(_could_be_made(call, result, held, tools) for call, result in _answered(step.calls.calls, step.results))
        for step in held.steps
    )


def _answered(calls: Sequence[Call], results: Sequence[Executed]) -> Iterator[tuple[Call, Executed | None]]:
    for number, call in enumerate(calls):
        yield call, results[number] if number < len(results) else None


def _could_be_made(call: Call, result: Executed | None, held: Held, tools: Sequence[Tool]) -> bool:
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

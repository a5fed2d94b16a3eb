"""What a model did, as an expectation for review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_fcall.cases.yaml.flow import flow, flow_key, literal
from pytest_fcall.core import Call, Calls, Executed, Held, Reply, World

if TYPE_CHECKING:
    from pytest_fcall.cases.gaps import Said
    from pytest_fcall.plugin.sampling import Asked

_NOTHING_SAID = Executed({"ok": True})
"""What a call gives where the case says nothing of it."""


class NotToExpect(ValueError):
    """There is nothing that could be expected. The text says why."""


def said_in(asked: Asked, turn: int | None) -> Said:
    """What was called in the answer to a case, or in one turn of it. Raises NotToExpect."""
    first = asked.judged[0]
    transcript = first.answer.transcript
    if transcript is None:
        _check(first.reply, first.calls)
        return _said([first.calls.calls])
    if len(transcript.turns) <= (turn or 0):
        raise NotToExpect("the conversation ended before it: fill what comes first, or mend what is expected there")
    held = transcript.turns[turn or 0]
    for step in held.steps:
        _check(step.reply, step.calls)
    if held.end != "answered":
        raise NotToExpect("the conversation did not come to an end in it; `max_steps:` allows more")
    if (silent := next(_unanswered(held, asked.case.world or World()), None)) is not None:
        raise NotToExpect(
            f"nothing says what {silent.name} gives, so that what the model did next says nothing: put it under "
            "`stubs:`, or expect the call here, with `returns:`"
        )
    return _said([step.calls.calls for step in held.steps])


def _check(reply: Reply, calls: Calls) -> None:
    if calls.malformed is not None:
        raise NotToExpect(calls.malformed)
    if reply.refusal or reply.finish in ("length", "refusal", "content_filter"):
        raise NotToExpect(f"the model gave no answer: {reply.refusal or reply.finish}")


def _unanswered(held: Held, world: World) -> Iterator[Call]:
    if world.environment is None:
        for step in held.steps:
            for call, result in zip(step.calls.calls, step.results, strict=False):
                if call.name not in world.stubs and result == _NOTHING_SAID:
                    yield call


def _said(steps: Iterable[Sequence[Call]]) -> Said:
    lines = [[f"{flow_key(call.name)}: {flow(literal(call.arguments))}" for call in calls] for calls in steps if calls]
    return lines or "no_call"

"""The conversation of an app that carries out its calls itself, read out of the messages that it gave back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fcall.core.call import Calls
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.transcript import Step
from pytest_fcall.core.values import Json, Message


def steps_of_trail(step: Step) -> list[Step]:
    """The one step that the test saw, as the steps that the app took.

    Calls that cannot be told apart by messages stay in one step.
    """
    counts = list(_counts(step.reply.trail[_repeated(step) :]))
    if sum(counts) != len(step.calls.calls) or len(counts) < 2:
        return [replace(step, results=_results(step, 0, len(step.calls.calls)))]
    steps, start = [], 0
    for count in counts:
        calls = Calls(step.calls.calls[start : start + count])
        steps.append(replace(step, calls=calls, results=_results(step, start, start + count)))
        start += count
    steps[-1] = replace(steps[-1], calls=replace(step.calls, calls=steps[-1].calls.calls))
    return steps


def after_trail(step: Step) -> list[Message]:
    """All messages so far."""
    begun = () if _repeated(step) else step.request.messages
    return [*begun, *step.reply.trail]


def _repeated(step: Step) -> int:
    """How many messages the trail begins with that were asked."""
    asked = step.request.messages
    same = [_said(message) for message in step.reply.trail[: len(asked)]] == [_said(message) for message in asked]
    return len(asked) if same else 0


def _said(message: Message) -> tuple[Json, Json]:
    return message.get("role"), message.get("content")


def _counts(messages: Sequence[Message]) -> Iterator[int]:
    """How many calls each message makes; the last may make none."""
    for message in messages:
        calls = message.get("tool_calls")
        if message.get("role") == "assistant" and isinstance(calls, list | tuple) and calls:
            yield len(calls)


def _results(step: Step, start: int, end: int) -> tuple[Executed, ...]:
    told = {message.get("tool_call_id"): message for message in step.reply.trail if message.get("role") == "tool"}
    calls = step.calls.calls[start:end]
    if not all(call.id in told for call in calls):
        return ()
    return tuple(_result(told[call.id]) for call in calls)


def _result(message: Message) -> Executed:
    content = message.get("content")
    if not isinstance(content, str):
        return Executed(content)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return Executed(content)
    if isinstance(value, Mapping) and value.keys() == {"error"}:
        return Executed(error=str(value["error"]))
    return Executed(value)

"""A conversation as people read it: what was said, called and answered, up to the fault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from pytest_fcall.core import Call, CallResult, HeldTurn, Message, Step, Transcript, Verdict
from pytest_fcall.reporting.call_pairs import call_index
from pytest_fcall.reporting.failure import content_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import Marks
from pytest_fcall.reporting.value_text import arguments_text, value_text


def turn_at_fault(verdict: Verdict) -> int:
    """The number of the first turn that is not right; else of the last."""
    wrong = (number for number, turn in enumerate(verdict.turns) if not turn.valid)
    return next(wrong, max(len(verdict.turns) - 1, 0))


def transcript_lines(transcript: Transcript, verdict: Verdict, marks: Marks, limit: int = 200) -> list[str]:
    """A line for everything that was said or called, up to the end of the turn that is not right.

    The calls that the verdict has something against are marked. `limit` is the length of one value.
    """
    last = turn_at_fault(verdict)
    lines: list[str] = []
    for number, held in enumerate(transcript.turns[: last + 1]):
        wrong = _wrong_calls(verdict.turns[number]) if number < len(verdict.turns) else frozenset()
        lines += _turn(held, wrong, marks, limit)
    return lines


def latest(lines: Sequence[str], most: int, marks: Marks) -> list[str]:
    """The last of these lines, and how many there were before."""
    if len(lines) <= most:
        return [*lines]
    return [f"  {marks.cut} {len(lines) - most + 1} lines before (-vv)", *lines[len(lines) - most + 1 :]]


def _turn(held: HeldTurn, wrong: frozenset[int], marks: Marks, limit: int) -> Iterator[str]:
    made = 0
    heard = 0
    for step in held.steps:
        for message in _news(step, heard):
            yield f"  user: {_said(message, limit)}"
        heard = len(step.request.messages)
        for call, result in zip_longest(step.calls.calls, step.results):
            mark = marks.wrong if made in wrong else " "
            yield f"  {mark} {_call(call, limit)}{_result(result, limit)}"
            made += 1
        if (not step.calls.calls or step.reply.trail) and (text := step.reply.text.strip()):
            yield f"  model: {safe_line(text[:limit])}"


def _news(step: Step, heard: int) -> Iterator[Message]:
    """What the user has said since the step before; at first, what was said last."""
    messages = step.request.messages
    spoken = [message for message in messages[heard:] if message.get("role") == "user"]
    yield from spoken[-1:]


def _said(message: Message, limit: int) -> str:
    return safe_line(content_text(message.get("content"))[:limit])


def _call(call: Call, limit: int) -> str:
    return f"{safe_line(call.name)}({arguments_text(call.arguments, limit)})"


def _result(result: CallResult | None, limit: int) -> str:
    if result is None:
        return ""
    if result.error is not None:
        place = f" ({safe_line(result.place)})" if result.place else ""
        return f" → error: {safe_line(result.error[:limit])}{place}"
    return f" → {value_text(result.value, limit)}"


def _wrong_calls(verdict: Verdict) -> frozenset[int]:
    found = (call_index(reason) for reason in verdict.reasons)
    return frozenset(index for index in found if index is not None)

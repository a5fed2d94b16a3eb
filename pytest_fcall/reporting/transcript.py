"""A conversation as text: messages, calls and results, up to the first wrong turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from pytest_fcall.core.conversation import CallResult, Step, Transcript, TranscriptTurn
from pytest_fcall.core.values import Json, Message
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.reporting.call_pairs import call_index
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import Marks
from pytest_fcall.reporting.value_text import call_text, value_text


def first_wrong_turn(verdict: Verdict) -> int:
    """The number of the first wrong turn, or of the last turn if none is wrong."""
    wrong = (number for number, turn in enumerate(verdict.turns) if not turn.valid)
    return next(wrong, max(len(verdict.turns) - 1, 0))


def transcript_lines(transcript: Transcript, verdict: Verdict, marks: Marks, limit: int = 200) -> list[str]:
    """A line for each message and call, up to the end of the first wrong turn; wrong calls are marked.

    `limit` is the length of one value.
    """
    last = first_wrong_turn(verdict)
    lines: list[str] = []
    for number, held in enumerate(transcript.turns[: last + 1]):
        wrong = _wrong_calls(verdict.turns[number]) if number < len(verdict.turns) else frozenset()
        lines += _turn(held, wrong, marks, limit)
    return lines


def last_lines(lines: Sequence[str], most: int, marks: Marks) -> list[str]:
    """The last lines, and the number of those before."""
    if len(lines) <= most:
        return [*lines]
    return [f"  {marks.cut} {len(lines) - most + 1} earlier lines with -vv", *lines[len(lines) - most + 1 :]]


def _turn(held: TranscriptTurn, wrong: frozenset[int], marks: Marks, limit: int) -> Iterator[str]:
    index = message_count = 0
    for step in held.steps:
        for message in _new_messages(step, message_count):
            yield f"  user: {safe_line(content_text(message.get('content'))[:limit])}"
        message_count = len(step.request.messages)
        for call, result in zip_longest(step.calls.calls, step.results):
            mark = marks.wrong if index in wrong else " "
            yield f"  {mark} {call_text(call, limit)}{_result(result, limit)}"
            index += 1
        if (not step.calls.calls or step.reply.trail) and (text := step.reply.text.strip()):
            yield f"  model: {safe_line(text[:limit])}"


def _new_messages(step: Step, seen: int) -> Iterator[Message]:
    """The last user message since the step before."""
    new = [message for message in step.request.messages[seen:] if message.get("role") == "user"]
    yield from new[-1:]


def _result(result: CallResult | None, limit: int) -> str:
    if result is None:
        return ""
    faulty = f" → {result.fault}, on purpose" if result.fault else ""
    if result.error is not None:
        place = f" ({safe_line(result.place)})" if result.place else ""
        return f"{faulty} → error: {safe_line(result.error[:limit])}{place}"
    return f"{faulty} → {value_text(result.value, limit)}"


def content_text(content: Json) -> str:
    """The content of a message as text; other parts are named in brackets."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    return " ".join(_content_part(part) for part in parts if isinstance(part, Mapping))


def _content_part(part: Mapping[str, Json]) -> str:
    if isinstance(text := part.get("text"), str):
        return text
    image = part.get("image_file")
    return f"[image {image.get('path')}]" if isinstance(image, Mapping) else f"[{part.get('type') or ', '.join(part)}]"


def _wrong_calls(verdict: Verdict) -> frozenset[int]:
    found = (call_index(reason) for reason in verdict.reasons)
    return frozenset(index for index in found if index is not None)

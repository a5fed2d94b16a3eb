"""The line by which a person reviews a recorded reply: the question and the answer, and nothing else that moves.

Not in it is what changes although the answer does not: ids of calls, times, tokens, signatures, versions of software,
and the tools, instructions and settings that many replies share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pytest_fcall.backends.recordings.entry import Recording, spans_to_data
from pytest_fcall.core import Json, Message, Request
from pytest_fcall.core.digests import without_paths
from pytest_fcall.core.json_data import read_json, readable_json, refuse_constant

_INSTRUCTIONS = ("system", "developer")


class Review(NamedTuple):
    """A reply as it is reviewed. Sorted, reviews are in the order in which people read them."""

    case: str
    sample: int
    turn: int
    line: str


def instructions_of(request: Request) -> tuple[Message, ...]:
    """The messages at the beginning that give the model its instructions."""
    messages = request.messages
    number = next((n for n, each in enumerate(messages) if each.get("role") not in _INSTRUCTIONS), len(messages))
    return messages[:number]


def review_of(entry: Recording) -> Review:
    """The line of a recording. Raises ValueError, TypeError or RecursionError if it is not valid JSON data."""
    messages = entry.request.messages[len(instructions_of(entry.request)) :]
    turn = 1 + sum(message.get("role") == "assistant" for message in messages[:-1])
    fields: dict[str, Json] = {
        "case": entry.case,
        "messages": [_message(message) for message in _newest(messages)],
        "reply": dict(_answer(entry)),
    }
    if entry.request.sample > 0:
        fields["sample"] = entry.request.sample
    if turn > 1:
        fields["turn"] = turn
    return Review(entry.case, entry.request.sample, turn, readable_json(fields))


def _newest(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages since the last answer: what was said before is in the lines of earlier turns."""
    answers = [number for number, message in enumerate(messages[:-1]) if message.get("role") == "assistant"]
    return messages[answers[-1] + 1 :] if answers else messages


def _answer(entry: Recording) -> Iterator[tuple[str, Json]]:
    reply = entry.reply
    if reply.text:
        yield "text", reply.text
    if reply.tool_calls:
        yield "calls", [_call(call.name, call.arguments) for call in reply.tool_calls]
    yield "finish", reply.finish
    for name in ("refusal", "malformed", "decoder"):
        if (value := getattr(reply, name)) is not None:
            yield name, value
    if reply.trail:
        asked = list(entry.request.messages)
        repeated = len(asked) if list(reply.trail[: len(asked)]) == asked else 0
        yield "trail", [_message(message) for message in reply.trail[repeated:]]
    if reply.spans and (spans := spans_to_data(reply.spans)):
        yield "spans", spans


def _message(message: Message) -> Json:
    """A message without ids and without what only the provider understands."""
    if message.get("role") != "assistant":
        return without_paths({key: value for key, value in message.items() if key != "tool_call_id"})
    shown: dict[str, Json] = {"role": "assistant", "content": message.get("content")}
    calls = message.get("tool_calls")
    if isinstance(calls, Sequence) and calls:
        shown["calls"] = [_call_in_message(call) for call in calls]
    return shown


def _call_in_message(call: Json) -> Json:
    called = call.get("function", call) if isinstance(call, Mapping) else call
    return _call(called.get("name"), called.get("arguments")) if isinstance(called, Mapping) else called


def _call(name: Json, arguments: Json) -> Json:
    """A call as case files write it: `{get_weather: {city: Oslo}}`."""
    shown = _arguments(arguments)
    return {name: shown} if isinstance(name, str) else {"name": name, "arguments": shown}


def _arguments(value: Json) -> Json:
    """The arguments as an object also where the provider gave its text."""
    if not isinstance(value, str):
        return value
    try:
        arguments = read_json(value, refuse_constant)
    except ValueError:
        return value
    return arguments if isinstance(arguments, Mapping) else value

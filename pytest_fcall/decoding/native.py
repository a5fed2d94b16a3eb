"""Tool calls that the server itself took out of the model's output."""

from __future__ import annotations

from pytest_fcall.core.reply import Call, Calls, RawCall, Reply
from pytest_fcall.decoding.call_marks import find_mark
from pytest_fcall.decoding.strict_json import NotJson, arguments_from_wire
from pytest_fcall.decoding.unreadable import joined_faults, shortened


def decode(reply: Reply) -> Calls:
    """Read the native tool calls.

    Text is never made a call: text that was plainly meant as one is malformed, since whoever runs this model
    behind this server would get no call either.
    """
    calls: list[Call] = []
    faults: list[str] = []
    notes: list[str] = []
    for number, raw in enumerate(reply.tool_calls, 1):
        try:
            call, remarks = _call(raw)
        except NotJson as error:
            faults.append(f"Tool call {number}: {error}.")
        else:
            calls.append(call)
            notes.extend(f"Tool call {number}: {remark}" for remark in remarks)
    if (mark := find_mark(reply.text)) is not None:
        faults.append(
            f"The text holds a tool call ({mark}) that the server did not take out: turn on the server's parser "
            "for this model's calls (vLLM: --enable-auto-tool-choice and --tool-call-parser), or name a `decoder:`."
        )
    return Calls(tuple(calls), joined_faults(faults), tuple(notes))


def _call(raw: RawCall) -> tuple[Call, tuple[str, ...]]:
    if not isinstance(raw.name, str) or not raw.name:
        raise NotJson("it has no name" if not raw.name else f"its name is of type {type(raw.name).__name__}")
    try:
        arguments, notes = arguments_from_wire(raw.arguments)
    except NotJson as error:
        raise NotJson(f"the arguments of {shortened(raw.name)} cannot be read: {error}") from None
    return Call(raw.name, arguments, raw.id), notes

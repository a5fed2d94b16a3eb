"""The table of decoders, and the function that reads the calls of a reply with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.core.reply import MAX_CALLS, MAX_DECODED_TEXT, TOO_MANY_CALLS, Call, Calls, RawCall, Reply
from pytest_fcall.core.request import Tool
from pytest_fcall.decoding.call_marks import find_mark
from pytest_fcall.decoding.format_decoders import FORMAT_DECODERS, LazyDecoders
from pytest_fcall.decoding.strict_json import NotJson, arguments_from_wire
from pytest_fcall.decoding.unreadable import joined_faults, shortened

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Decoder

DECODERS: Mapping[str, Decoder] = LazyDecoders(
    {"auto": "pytest_fcall.decoding.auto:decode"}
    | dict.fromkeys(FORMAT_DECODERS, "pytest_fcall.decoding.format_decoders:FORMAT_DECODERS")
)
"""The built-in decoders by the names that a case file uses."""

_NO_DECODERS: Mapping[str, Decoder] = MappingProxyType({})


def decode(reply: Reply, tools: Sequence[Tool] = (), decoders: Mapping[str, Decoder] = _NO_DECODERS) -> Calls:
    """Read the calls of a reply: its native tool calls, or those that its decoder finds in the text.

    `tools` are those that were offered; `decoders` are those of other packages, by name. Never raises, whatever the
    reply contains and whatever a decoder of another package does.
    """
    calls = _decode_native(reply) if reply.decoder is None else _decode_text(reply, reply.decoder, tools, decoders)
    return calls if reply.malformed is None else replace(calls, malformed=reply.malformed)


def _decode_native(reply: Reply) -> Calls:
    """Read the native tool calls. A call in the text is malformed: this model behind this server gives no call."""
    calls: list[Call] = []
    faults: list[str] = []
    notes: list[str] = []
    if len(reply.tool_calls) > MAX_CALLS:
        faults.append(TOO_MANY_CALLS)
    for number, raw in enumerate(reply.tool_calls[:MAX_CALLS], 1):
        try:
            call, call_notes = _native_call(raw)
        except NotJson as error:
            faults.append(f"Tool call {number}: {error}.")
        else:
            calls.append(call)
            notes.extend(f"Tool call {number}: {note}" for note in call_notes)
    if (mark := find_mark(reply.text)) is not None:
        faults.append(
            f"The text contains a tool call ({mark}) that the server did not extract: enable the server's parser "
            "for this model's calls (vLLM: --enable-auto-tool-choice and --tool-call-parser), or set a `decoder:`."
        )
    return Calls(tuple(calls), joined_faults(faults), tuple(notes))


def _native_call(raw: RawCall) -> tuple[Call, tuple[str, ...]]:
    if not isinstance(raw.name, str) or not raw.name:
        raise NotJson("it has no name" if not raw.name else f"its name is of type {type(raw.name).__name__}")
    try:
        arguments, notes = arguments_from_wire(raw.arguments)
    except NotJson as error:
        raise NotJson(f"the arguments of {shortened(raw.name)} cannot be read: {error}") from None
    return Call(raw.name, arguments, raw.id), notes


def _decode_text(reply: Reply, name: str, tools: Sequence[Tool], decoders: Mapping[str, Decoder]) -> Calls:
    decoder = decoders.get(name) or DECODERS.get(name)
    if decoder is None:
        return Calls(malformed=f"No decoder is named {shortened(name)}; {_decoder_hint(name, {*DECODERS, *decoders})}")
    if len(reply.text) > MAX_DECODED_TEXT:
        length = f"{len(reply.text):,} characters, more than {MAX_DECODED_TEXT:,}"
        return Calls(malformed=f"The text has {length}, so that no calls are looked for in it.")
    try:
        calls: object = decoder(reply.text, tools)
    except Exception as error:  # a decoder of another package: its failure is a finding, not an error of ours
        return Calls(malformed=f"The decoder `{name}` failed: {type(error).__name__}: {error}")
    if not isinstance(calls, Calls):
        return Calls(malformed=f"The decoder `{name}` returned {type(calls).__name__}, not Calls.")
    if reply.tool_calls:
        note = f"The decoder `{name}` reads the text only; the native tool calls of the reply were not read."
        return replace(calls, notes=(*calls.notes, note))
    return calls


def _decoder_hint(name: str, known: set[str]) -> str:
    from pytest_fcall.schema.value_text import did_you_mean

    return did_you_mean(name, sorted(known)) or f"available: {', '.join(sorted(known))}."

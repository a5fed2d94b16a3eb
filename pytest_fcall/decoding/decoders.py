"""The table of decoders, each imported at first use, and the function that reads the calls of a reply with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.core.reply import MAX_CALLS, MAX_DECODED_TEXT, TOO_MANY_CALLS, Call, Calls, RawCall, Reply
from pytest_fcall.core.request import Tool
from pytest_fcall.decoding.call_marks import find_mark
from pytest_fcall.decoding.strict_json import NotJson, arguments_from_wire
from pytest_fcall.decoding.unreadable_text import joined_faults, quote_short

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Decoder


class LazyDecoders(Mapping[str, "Decoder"]):
    """Decoders by name, each imported at first use.

    `places` gives `module:attribute` for each name. The attribute is the decoder, or a mapping that has it by name.
    """

    __slots__ = ("_imported", "_places")

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places
        self._imported: dict[str, Decoder] = {}

    def __getitem__(self, name: str) -> Decoder:
        if name not in self._imported:
            module, _, attribute = self._places[name].partition(":")
            decoder = getattr(import_module(module), attribute)
            self._imported[name] = decoder[name] if isinstance(decoder, Mapping) else decoder
        return self._imported[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places


_PLACES = {
    "json_calls:decode": ("json", "openai", "anthropic"),
    "python_calls:decode": ("python", "pythonic"),
    "bfcl.decoders:BFCL_DECODERS": (
        "bfcl",
        "bfcl_java",
        "bfcl_javascript",
        "bfcl_json",
        "bfcl_verbose_xml",
        "bfcl_concise_xml",
        "bfcl_tagged",
        "bfcl_json_tagged",
        "bfcl_verbose_xml_tagged",
        "bfcl_concise_xml_tagged",
    ),
    "research.gorilla:decode": ("gorilla",),
    "research.toolbench:decode": ("toolbench",),
    "research.api_blend:atis": ("api_blend_atis", "api_blend_snips"),
    "research.api_blend:topv2": ("api_blend_topv2",),
    "research.api_blend:sgd": ("api_blend_sgd", "api_blend_multiwoz"),
    "research.api_blend:toolqa": ("api_blend_toolqa",),
    "research.nestful:decode": ("nestful",),
    "tagged.families:FAMILY_DECODERS": (
        "qwen_coder",
        "glm",
        "glm4",
        "hermes",
        "granite",
        "phi",
        "mistral",
        "deepseek",
        "kimi",
        "functiongemma",
        "gemma4",
        "harmony",
        "llama",
        "xlam",
    ),
}

_MODULES = {name: f"pytest_fcall.decoding.{place}" for place, names in _PLACES.items() for name in names}

FORMAT_DECODERS: Mapping[str, Decoder] = LazyDecoders(_MODULES)
"""All decoders but `auto`, which chooses among them."""
DECODERS: Mapping[str, Decoder] = LazyDecoders({"auto": "pytest_fcall.decoding.auto:decode", **_MODULES})
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
        raise NotJson(f"the arguments of {quote_short(raw.name)} cannot be read: {error}") from None
    return Call(raw.name, arguments, raw.id), notes


def _decode_text(reply: Reply, name: str, tools: Sequence[Tool], decoders: Mapping[str, Decoder]) -> Calls:
    decoder = decoders.get(name) or DECODERS.get(name)
    if decoder is None:
        fault = unknown_decoder(name, decoders)
        return Calls(malformed=f"{fault[:1].upper()}{fault[1:]}")
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


def unknown_decoder(name: str, decoders: Mapping[str, Decoder] = _NO_DECODERS) -> str:
    """A line for a name that no decoder has, not even one of the `decoders` of other packages; empty if one has it."""
    if name in decoders or name in DECODERS:
        return ""
    from pytest_fcall.core.message_text import did_you_mean

    known = sorted({*DECODERS, *decoders})
    hint = did_you_mean(name, known) or f"available: {', '.join(known)}."
    return f"no decoder is named {quote_short(name)}; {hint}"

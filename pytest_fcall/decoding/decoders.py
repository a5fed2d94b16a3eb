"""The table of decoders by name, and the function that decodes a reply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.request import Tool
from pytest_fcall.decoding import native
from pytest_fcall.decoding.unreadable import shortened

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Decoder


class LazyDecoders(Mapping[str, "Decoder"]):
    """Decoders by name. Where each is, `module:name` says; it is imported when it is first asked for."""

    __slots__ = ("_places",)

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> Decoder:
        module, _, attribute = self._places[name].partition(":")
        decoder: Decoder = getattr(import_module(module), attribute)
        return decoder

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places


_PACKAGE = "pytest_fcall.decoding"
_DECODER_PLACES: Mapping[str, str] = MappingProxyType(
    {
        "auto": "auto:decode",
        "json": "json_calls:decode",
        "openai": "json_calls:decode",
        "anthropic": "json_calls:decode",
        "python": "python.calls:decode",
        "pythonic": "python.calls:decode",
        "bfcl": "bfcl.decoders:python",
        "bfcl_java": "bfcl.decoders:java",
        "bfcl_javascript": "bfcl.decoders:javascript",
        "bfcl_json": "bfcl.decoders:json",
        "bfcl_verbose_xml": "bfcl.decoders:verbose_xml",
        "bfcl_concise_xml": "bfcl.decoders:concise_xml",
        "bfcl_tagged": "bfcl.decoders:python_tagged",
        "bfcl_json_tagged": "bfcl.decoders:json_tagged",
        "bfcl_verbose_xml_tagged": "bfcl.decoders:verbose_xml_tagged",
        "bfcl_concise_xml_tagged": "bfcl.decoders:concise_xml_tagged",
        "gorilla": "families.gorilla:decode",
        "toolbench": "families.toolbench:decode",
        "api_blend_atis": "families.api_blend_json:decode",
        "api_blend_snips": "families.api_blend_json:decode",
        "api_blend_topv2": "families.api_blend:topv2",
        "api_blend_sgd": "families.api_blend:sgd",
        "api_blend_multiwoz": "families.api_blend:sgd",
        "api_blend_toolqa": "families.api_blend:toolqa",
    }
)
_TAGGED_FAMILIES = (
    "qwen_coder",
    "glm",
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
)

DECODERS: Mapping[str, Decoder] = LazyDecoders(
    {name: f"{_PACKAGE}.{place}" for name, place in _DECODER_PLACES.items()}
    | {name: f"{_PACKAGE}.tagged.families:{name}" for name in _TAGGED_FAMILIES}
)


_NO_DECODERS: Mapping[str, Decoder] = MappingProxyType({})


def decode(reply: Reply, tools: Sequence[Tool] = (), decoders: Mapping[str, Decoder] = _NO_DECODERS) -> Calls:
    """Read the calls of a reply: its native tool calls, or those that its decoder finds in the text.

    `tools` are those that were offered; `decoders` are those of other packages, by name.

    Total: whatever the reply holds, and whatever a decoder of another package does, gives Calls.
    """
    calls = native.decode(reply) if reply.decoder is None else _decode_text(reply, reply.decoder, tools, decoders)
    return calls if reply.malformed is None else replace(calls, malformed=reply.malformed)


def _decode_text(reply: Reply, name: str, tools: Sequence[Tool], decoders: Mapping[str, Decoder]) -> Calls:
    decoder = decoders.get(name) or DECODERS.get(name)
    if decoder is None:
        return Calls(
            malformed=f"There is no decoder {shortened(name)}; {_decoder_hint(name, sorted({*DECODERS, *decoders}))}"
        )
    try:
        calls: object = decoder(reply.text, tools)
    except Exception as error:  # other people's code: its failure is a finding, not ours to pass on
        return Calls(malformed=f"The decoder `{name}` failed: {type(error).__name__}: {error}")
    if not isinstance(calls, Calls):
        return Calls(malformed=f"The decoder `{name}` gave {type(calls).__name__}, not Calls.")
    if reply.tool_calls:
        note = f"The decoder `{name}` reads the text; native tool calls beside it were not read."
        return replace(calls, notes=(*calls.notes, note))
    return calls


def _decoder_hint(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name[:100], known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"known are {', '.join(known)}."

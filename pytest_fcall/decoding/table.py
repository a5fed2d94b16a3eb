"""The built-in decoders of text, by the names that `decoder:` gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Decoder


class LateDecoders(Mapping[str, "Decoder"]):
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


_HERE = "pytest_fcall.decoding"
_PLACES: Mapping[str, str] = MappingProxyType(
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
_TAGGED = (
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

DECODERS: Mapping[str, Decoder] = LateDecoders(
    {name: f"{_HERE}.{place}" for name, place in _PLACES.items()}
    | {name: f"{_HERE}.tagged.families:{name}" for name in _TAGGED}
)

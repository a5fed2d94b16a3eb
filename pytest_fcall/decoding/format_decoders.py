"""The decoders of text by the name of their format, imported at first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

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
    "python.calls:decode": ("python", "pythonic"),
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
    "research.api_blend_json:decode": ("api_blend_atis", "api_blend_snips"),
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

FORMAT_DECODERS: Mapping[str, Decoder] = LazyDecoders(
    {name: f"pytest_fcall.decoding.{place}" for place, names in _PLACES.items() for name in names}
)
"""All decoders but `auto`, which chooses among them."""

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
_MODULES: Mapping[str, str] = MappingProxyType(
    {
        "json": "json_calls",
        "openai": "json_calls",
        "anthropic": "json_calls",
        "python": "python.calls",
        "pythonic": "python.calls",
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
    {name: f"{_HERE}.{module}:decode" for name, module in _MODULES.items()}
    | {name: f"{_HERE}.tagged.families:{name}" for name in _TAGGED}
)

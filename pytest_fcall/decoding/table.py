"""The built-in decoders of text, by the names that `decoder:` gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Decoder


class LateDecoders(Mapping[str, "Decoder"]):
    """Decoders by name, each the `decode` of a module that is imported when it is first asked for."""

    __slots__ = ("_modules",)

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> Decoder:
        decoder: Decoder = import_module(self._modules[name]).decode
        return decoder

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __contains__(self, name: object) -> bool:
        return name in self._modules


_HERE = "pytest_fcall.decoding"
_MODULES: Mapping[str, str] = MappingProxyType(
    {
        "json": f"{_HERE}.json_calls",
    }
)

DECODERS: Mapping[str, Decoder] = LateDecoders(_MODULES)

"""A plain module as what stands behind the tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Number
from types import ModuleType
from typing import Final

_LISTS: Final = (list, tuple, set, frozenset)
_DATA: Final = (Number, str, Mapping, *_LISTS, type(None))


class Contents(Mapping[str, object]):
    """The public functions that a module defines itself, and its public data, as they are at the time.

    What it imports is none of it, as far as that can be told: data of Python's own types, or of the module's, counts.
    """

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getitem__(self, name: str) -> object:
        value: object = vars(self._module)[name]
        if not self._shows(name, value):
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return (name for name, value in list(vars(self._module).items()) if self._shows(name, value))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def put(self, name: str, value: object) -> None:
        """Give the module's attribute another value."""
        setattr(self._module, name, value)

    def _shows(self, name: str, value: object) -> bool:
        if name.startswith("_") or isinstance(value, type):
            return False
        if isinstance(value, _LISTS) and any(map(callable, value)):  # such as a list of the tools
            return False
        own = self._module.__name__ in {getattr(value, "__module__", None), type(value).__module__}
        return own or isinstance(value, _DATA)

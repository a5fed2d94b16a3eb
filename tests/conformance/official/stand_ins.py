"""Modules in place of providers' libraries: their classes keep what they are made with, and their clients what they
are asked. On the standard library alone.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable
from typing import Any, NoReturn


class Captured(Exception):
    """A request that was about to be sent."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        super().__init__("a request")
        self.arguments = arguments


class Client:
    """Stands for a client, with any methods; each raises Captured."""

    def __getattr__(self, name: str) -> Client:
        return self

    def __call__(self, **arguments: Any) -> NoReturn:
        raise Captured(arguments)


class Kept(dict[str, Any]):
    """Stands for a class, a base class, a decorator or a function: what it is made with are its attributes."""

    def __init__(self, *_arguments: object, **named: object) -> None:
        super().__init__(named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name, Kept)

    def __setattr__(self, name: str, value: object) -> None:
        self[name] = value

    def __or__(self, _other: object) -> Kept:  # type: ignore[override]
        return self

    def __call__(self, *arguments: object, **_named: object) -> Any:
        return arguments[0] if arguments else self


def _decorated(function: object) -> object:
    return function


class _Library(types.ModuleType):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []  # it may have modules inside

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("final", "override"):
            return _decorated
        made = type(name, (object,) if name == "EnforceOverrides" else (Kept,), {})
        setattr(self, name, made)
        return made


def stand_in(names: Iterable[str]) -> None:
    """Put such a module in the place of each."""
    for name in names:
        sys.modules[name] = _Library(name)
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, sys.modules[name])

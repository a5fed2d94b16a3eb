"""The environment inside its process: the object that a factory made, or a module, and functions beside it."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from inspect import getattr_static, isawaitable, isclass, isfunction, ismodule
from numbers import Number
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from asyncio import Runner

    from pytest_fcall.core.values import Json


_LISTS: Final = (list, tuple, set, frozenset)
_DATA: Final = (Number, str, Mapping, *_LISTS, type(None))


class ModuleContents(Mapping[str, object]):
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


class NoSuchName(LookupError):
    """A name leads nowhere, or where nobody may go. The text says so."""


class LoadedEnvironment:
    """The object that a factory made, or what is in a module, and functions beside it."""

    def __init__(self, environment: str | None, setup: Mapping[str, Json], functions: Mapping[str, str]) -> None:
        self._runner: Runner | None = None
        self._functions = {tool: _import_function(target) for tool, target in functions.items()}
        self._object = None if environment is None else self._made(environment, setup)

    def call(self, tool: str, arguments: Mapping[str, Json]) -> object:
        """Call the function or method of this name, and wait for what it promises; what it raises is left to rise."""
        function = self._functions[tool] if tool in self._functions else self._member(tool)
        if not callable(function):
            raise NoSuchName(f"`{tool}` is no function")
        return self._finished(function(**arguments))

    def state(self, names: Sequence[str] | None) -> dict[str, object]:
        """Read the public attributes of these names, or all."""
        return {name: self._attribute(name) for name in (self._attributes() if names is None else names)}

    def _attribute(self, name: str) -> object:
        try:
            return _follow_path(self._object, name)
        except NoSuchName as error:
            from pytest_fcall.schema.value_text import nearest

            meant = nearest(name, self._attributes())
            raise NoSuchName(f"{error}; did you mean `{meant}`?" if meant else str(error)) from None

    def _attributes(self) -> list[str]:
        if isinstance(self._object, Mapping):
            return [name for name, value in self._object.items() if _is_state(name, value)]
        return [name for name in dir(self._object) if _is_state(name, getattr(self._object, name, None))]

    def _made(self, environment: str, setup: Mapping[str, Json]) -> object:
        if ":" in environment:
            made = self._finished(_import_target(environment)(**setup))
            if made is None:
                raise NoSuchName("it gave nothing that could answer calls: return an object, or a mapping of functions")
            return made
        contents = ModuleContents(importlib.import_module(environment))
        for name, value in setup.items():
            if name not in contents or callable(contents[name]):
                raise NoSuchName(f"`{environment}` has no public attribute `{name}` to be set up")
            contents.put(name, value)
        return contents

    def _member(self, tool: str) -> object:
        """A method, or a key: that may be any name but one that begins with an underscore."""
        if isinstance(self._object, Mapping) and tool in self._object and not tool.startswith("_"):
            return self._object[tool]
        return _follow_path(self._object, tool)

    def _finished(self, value: object) -> object:
        """Wait in one loop for all calls: what an object opens in one, it uses in another."""
        if not isawaitable(value):
            return value
        if self._runner is None:
            from asyncio import Runner

            self._runner = Runner()
        return self._runner.run(_wait_for(value))


async def _wait_for(value: Awaitable[object]) -> object:
    return await value


def _import_target(target: str) -> Any:
    module, _, path = target.partition(":")
    found: object = importlib.import_module(module)
    return _follow_path(found, path)


def _import_function(target: str) -> object:
    """What stands at `module:function`, or as `module:LIST.2` in a list."""
    start, _, last = target.rpartition(".")
    if last.isdecimal():
        listed: object = _import_target(start)[int(last)]
        return listed
    owner = _import_target(start) if ":" in start else None
    if isclass(owner) and isfunction(getattr_static(owner, last)):
        raise NoSuchName(f"`{target}` is a method, and there is no object to call it on; name `environment: {start}`")
    return _import_target(target)


def _follow_path(start: object, path: str) -> object:
    """Follow a dotted path of public names."""
    found = start
    for name in path.split("."):
        if not name.isidentifier() or name.startswith("_"):
            raise NoSuchName(f"`{path}` is no public name")
        try:
            found = found[name] if isinstance(found, Mapping) else getattr(found, name)
        except (AttributeError, KeyError):
            raise NoSuchName(f"there is no `{path}`") from None
    return found


def _is_state(name: object, value: object) -> bool:
    hidden = not isinstance(name, str) or not name.isidentifier() or name.startswith("_")
    return not (hidden or callable(value) or ismodule(value))

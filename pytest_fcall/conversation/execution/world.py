"""What stands behind the tools, inside the process in which it is called."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Mapping, Sequence
from inspect import getattr_static, isawaitable, isclass, isfunction, ismodule
from typing import TYPE_CHECKING, Any

from pytest_fcall.conversation.execution.contents import Contents

if TYPE_CHECKING:
    from asyncio import Runner

    from pytest_fcall.core.values import Json


class NoSuchThing(LookupError):
    """A name leads nowhere, or where nobody may go. The text says so."""


class World:
    """The object that a factory made, or what is in a module, and functions beside it."""

    def __init__(self, environment: str | None, setup: Mapping[str, Json], functions: Mapping[str, str]) -> None:
        self._runner: Runner | None = None
        self._functions = {tool: _function(target) for tool, target in functions.items()}
        self._object = None if environment is None else self._made(environment, setup)

    def call(self, tool: str, arguments: Mapping[str, Json]) -> object:
        """Call the function or method of this name, and wait for what it promises; what it raises is left to rise."""
        function = self._functions[tool] if tool in self._functions else self._member(tool)
        if not callable(function):
            raise NoSuchThing(f"`{tool}` is no function")
        return self._finished(function(**arguments))

    def state(self, names: Sequence[str] | None) -> dict[str, object]:
        """Read the public attributes of these names, or all."""
        return {name: self._attribute(name) for name in (self._attributes() if names is None else names)}

    def _attribute(self, name: str) -> object:
        try:
            return _found(self._object, name)
        except NoSuchThing as error:
            from pytest_fcall.schema.words import nearest

            meant = nearest(name, self._attributes())
            raise NoSuchThing(f"{error}; did you mean `{meant}`?" if meant else str(error)) from None

    def _attributes(self) -> list[str]:
        if isinstance(self._object, Mapping):
            return [name for name, value in self._object.items() if _is_state(name, value)]
        return [name for name in dir(self._object) if _is_state(name, getattr(self._object, name, None))]

    def _made(self, environment: str, setup: Mapping[str, Json]) -> object:
        if ":" in environment:
            made = self._finished(_imported(environment)(**setup))
            if made is None:
                raise NoSuchThing(
                    "it gave nothing that could answer calls: return an object, or a mapping of functions"
                )
            return made
        contents = Contents(importlib.import_module(environment))
        for name, value in setup.items():
            if name not in contents or callable(contents[name]):
                raise NoSuchThing(f"`{environment}` has no public attribute `{name}` to be set up")
            contents.put(name, value)
        return contents

    def _member(self, tool: str) -> object:
        """A method, or a key: that may be any name but one that begins with an underscore."""
        if isinstance(self._object, Mapping) and tool in self._object and not tool.startswith("_"):
            return self._object[tool]
        return _found(self._object, tool)

    def _finished(self, value: object) -> object:
        """Wait in one loop for all calls: what an object opens in one, it uses in another."""
        if not isawaitable(value):
            return value
        if self._runner is None:
            from asyncio import Runner

            self._runner = Runner()
        return self._runner.run(_awaited(value))


async def _awaited(value: Awaitable[object]) -> object:
    return await value


def _imported(target: str) -> Any:
    module, _, path = target.partition(":")
    found: object = importlib.import_module(module)
    return _found(found, path)


def _function(target: str) -> object:
    """What stands at `module:function`, or as `module:LIST.2` in a list."""
    start, _, last = target.rpartition(".")
    if last.isdecimal():
        listed: object = _imported(start)[int(last)]
        return listed
    owner = _imported(start) if ":" in start else None
    if isclass(owner) and isfunction(getattr_static(owner, last)):
        raise NoSuchThing(f"`{target}` is a method, and there is no object to call it on; name `environment: {start}`")
    return _imported(target)


def _found(start: object, path: str) -> object:
    """Follow a dotted path of public names."""
    found = start
    for name in path.split("."):
        if not name.isidentifier() or name.startswith("_"):
            raise NoSuchThing(f"`{path}` is no public name")
        try:
            found = found[name] if isinstance(found, Mapping) else getattr(found, name)
        except (AttributeError, KeyError):
            raise NoSuchThing(f"there is no `{path}`") from None
    return found


def _is_state(name: object, value: object) -> bool:
    hidden = not isinstance(name, str) or not name.isidentifier() or name.startswith("_")
    return not (hidden or callable(value) or ismodule(value))

"""Tools named by their place in Python code."""

from __future__ import annotations

import importlib
import inspect
import sysconfig
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_fcall.core import Tool
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.objects import tool_from_object
from pytest_fcall.schema.words import nearest

_LONGEST = 300


def tools_from_python(spec: str) -> list[Tool]:
    """Read the tools that `spec` names.

    `shop.tools:search_flights` and `shop.tools:Desk.book` are one tool, or all of a list that stands there;
    `shop.tools` is every public function that the module defines itself.
    """
    name, colon, attributes = spec.partition(":")
    if not all(part.isidentifier() for part in (*name.split("."), *(attributes.split(".") if colon else ()))):
        raise SchemaError(f"`{spec}` is no place in Python code", hint="write package.module:function")
    module = _imported(name)
    if not colon:
        return [_tool(function, spec, f"{spec}:{each}") for each, function in _public_functions(module).items()]
    found = _attribute(module, attributes)
    if not isinstance(found, Sequence) or isinstance(found, str):
        return [_tool(found, spec, spec)]
    return [_tool(obj, spec, f"{spec}.{index}") for index, obj in enumerate(found)]


def _tool(obj: object, spec: str, target: str) -> Tool:
    """One tool; `target` is where it stands, down to its number in a list."""
    tool = tool_from_object(obj)
    origin = {"python": target} if callable(obj) else None
    return Tool(tool.name, tool.description, tool.parameters, f"python: {spec}", origin=origin)


def _public_functions(module: ModuleType) -> dict[str, object]:
    functions: dict[str, object] = {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    if not functions:
        raise SchemaError(f"{module.__name__} defines no public function", hint=f"name one: {module.__name__}:NAME")
    return functions


def _attribute(module: ModuleType, attributes: str) -> object:
    found: Any = module
    for name in attributes.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            near = nearest(name, vars(found) if isinstance(found, ModuleType | type) else ())
            owner = getattr(found, "__qualname__", None) or module.__name__
            raise SchemaError(f"`{owner}` has no `{name}`", hint=f"did you mean `{near}`?" if near else "") from None
    return found


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise SchemaError(f"cannot import {name}: {_told(error)}", hint=_advice(name, error)) from None


def _told(error: BaseException) -> str:
    words = _text(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {_text(error)}".rstrip(": ")
    words = " ".join(words.split())[:_LONGEST]
    place = _place(error)
    return f"{words} ({place})" if place else words


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an exception may fail even at this
        return ""


def _place(error: BaseException) -> str:
    """The last line of the team's own code that ran before the error, as `tools.py, line 3`."""
    if isinstance(error, SyntaxError):
        return ""  # its text says where
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame.filename)]
    return f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""


def _is_own(file: str) -> bool:
    libraries = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), str(Path(__file__).parent))
    return not file.startswith(("<", *libraries))


def _advice(name: str, error: BaseException) -> str:
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return ""
    if f"{name}.".startswith(f"{error.name}."):
        return "is the root folder importable? Python looks in the folder that pytest runs from and in `pythonpath`"
    return f"the module needs `{error.name}`, which is not installed here"

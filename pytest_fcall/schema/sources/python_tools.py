"""Tools from Python: functions, methods and classes, given as objects or as `module:name`."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_fcall.core.message_text import did_you_mean, nearest, suggestion, with_type
from pytest_fcall.core.pytest_outcome import is_pytest_outcome
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.schema.dialect import normalise
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.docstrings import read_docstring
from pytest_fcall.schema.sources.tool_data import tool_from_data
from pytest_fcall.schema.sources.type_hints import (
    HintSchemas,
    is_typed_dict,
    members_of_function,
    own_docstring,
    pydantic_refusal,
)


def tool_from_object(obj: object) -> Tool:
    """Read a tool from a function, method or other callable, a Pydantic model, a TypedDict, a dataclass or a mapping.

    Name, parameters and description come from signature, type hints and docstring. A Tool is returned unchanged.
    """
    if isinstance(obj, Tool):
        return obj
    if isinstance(obj, Mapping):
        return tool_from_data(obj)
    if isinstance(obj, type):
        return _from_class(obj)
    if callable(obj):
        return _from_function(obj)
    raise SchemaError(f"a tool must be a function, a class with fields or a mapping, not {with_type(obj)}")


def _from_class(cls: type) -> Tool:
    if hasattr(cls, "model_json_schema"):
        return _tool(cls.__name__, _pydantic_schema(cls), own_docstring(cls), cls)
    if is_typed_dict(cls) or dataclasses.is_dataclass(cls):
        hints = HintSchemas()
        schema = hints.object_schema(cls)
        return _tool(cls.__name__, _with_definitions(schema, hints), own_docstring(cls), cls)
    raise SchemaError(
        f"the class `{cls.__name__}` is not a tool",
        hint="name one of its methods, or make it a Pydantic model, a TypedDict or a dataclass",
    )


def _from_function(function: Callable[..., object]) -> Tool:
    named = function.func if isinstance(function, functools.partial) else function
    name = getattr(named, "__name__", type(named).__name__)
    words = read_docstring(_docstring(named))
    hints = HintSchemas()
    try:
        schema = hints.properties(members_of_function(function), words, name)
    except SchemaError as error:
        message = error.message if f"`{name}`" in error.message else f"`{name}`: {error.message}"
        raise SchemaError(message, hint=error.hint) from None
    return _tool(name, _with_definitions(schema, hints), _docstring(named), named)


def _docstring(function: Callable[..., object]) -> str:
    """The docstring of a function, or that of a callable object's `__call__` or class."""
    if inspect.isroutine(function):
        return function.__doc__ or ""
    return type(function).__call__.__doc__ or own_docstring(type(function))


def _tool(name: str, schema: dict[str, Json], docstring: str, origin: object) -> Tool:
    if not name.isidentifier():
        raise SchemaError(f"{name} is not a valid name of a tool", hint="use `def` and a name")
    description = schema.pop("description", "")
    words = read_docstring(docstring).description or (description if isinstance(description, str) else "")
    module = getattr(origin, "__module__", None)
    return Tool(name, words, normalise(schema), f"{module}:{name}" if module else name)


def _pydantic_schema(cls: Any) -> dict[str, Json]:
    try:
        schema: dict[str, Json] = cls.model_json_schema()
    except Exception as error:  # hooks of the class run here
        raise pydantic_refusal(f"`{cls.__name__}`", error) from None
    words = read_docstring(own_docstring(cls)).parameters
    properties = schema.get("properties")
    for name, part in properties.items() if isinstance(properties, dict) else ():
        if name in words and isinstance(part, dict):
            part.setdefault("description", words[name])
    schema.pop("title", None)
    return schema


def _with_definitions(schema: dict[str, Json], hints: HintSchemas) -> dict[str, Json]:
    return {**schema, "$defs": hints.definitions} if hints.definitions else schema


_LONGEST = 300


def tools_from_python(spec: str) -> list[Tool]:
    """Read the tools that `spec` names.

    `shop.tools:search_flights` and `shop.tools:Desk.book` are one tool, or a list of tools; `shop.tools` is every
    public function that the module defines itself.
    """
    name, colon, attributes = spec.partition(":")
    if not all(part.isidentifier() for part in (*name.split("."), *(attributes.split(".") if colon else ()))):
        raise SchemaError(f"`{spec}` is not of the form module:function", hint="write package.module:function")
    module = _imported(name, attributes)
    if not colon:
        return [_tool_at(function, spec, f"{spec}:{each}") for each, function in _public_functions(module).items()]
    found = _attribute(module, attributes)
    if not isinstance(found, Sequence) or isinstance(found, str):
        return [_tool_at(found, spec, spec)]
    return [_tool_at(obj, spec, f"{spec}.{index}") for index, obj in enumerate(found)]


def _tool_at(obj: object, spec: str, target: str) -> Tool:
    """One tool; `target` is its path in the code, with its index in a list."""
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
            hint = did_you_mean(name, vars(found) if isinstance(found, ModuleType | type) else ())
            owner = getattr(found, "__qualname__", None) or module.__name__
            raise SchemaError(f"`{owner}` has no `{name}`", hint=hint) from None
    return found


def _imported(name: str, attributes: str) -> ModuleType:
    """The module; `attributes` is what is looked for in it."""
    try:
        return _imported_without_keys(name)
    except BaseException as error:
        if not (isinstance(error, Exception | SystemExit) or is_pytest_outcome(error)):
            raise
        hint = _import_hint(name, attributes, error)
        raise SchemaError(f"cannot import {name}: {_error_text(error)}", hint=hint) from None


def _imported_without_keys(name: str) -> ModuleType:
    """Import a module. Where that fails, try once more with keys that are none: it may make a client that needs one.

    They are not there from the first, since what reads a `.env` file leaves variables alone that are set.
    """
    try:
        return importlib.import_module(name)
    except (ImportError, SyntaxError):
        raise
    except Exception:
        from pytest_fcall.core.provider_variables import with_placeholder_keys

        with with_placeholder_keys() as changed:
            if not changed:
                raise
            return importlib.import_module(name)


def _error_text(error: BaseException) -> str:
    """The error in one line, with the last line of the user's own code, such as `tools.py, line 3`."""
    try:
        text = str(error)
    except Exception:  # `__str__` of an exception may raise
        text = ""
    if not isinstance(error, ImportError):
        text = f"{type(error).__name__}: {text}".rstrip(": ")
    text = " ".join(text.split())[:_LONGEST]
    if isinstance(error, SyntaxError):
        return text  # which has the line
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_user_code(frame.filename)]
    return f"{text} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else text


def _is_user_code(file: str) -> bool:
    libraries = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), str(Path(__file__).parent))
    return not file.startswith(("<", *libraries))


def _import_hint(name: str, attributes: str, error: BaseException) -> str:
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return ""
    if f"{name}.".startswith(f"{error.name}."):
        if (parent := sys.modules.get(error.name.rpartition(".")[0])) is not None:
            return _hint_of_parent(parent, name, attributes)
        return "is the root folder importable? Python looks in the folder that pytest runs from and in `pythonpath`"
    return f"the module needs `{error.name}`, which is not installed here"


def _hint_of_parent(parent: ModuleType, name: str, attributes: str) -> str:
    """A hint for a name of which the first part could be imported."""
    from pkgutil import iter_modules

    rest = name.removeprefix(f"{parent.__name__}.")
    if rest == "py":
        return suggestion(":".join(filter(None, (parent.__name__, attributes))))
    first, _, more = rest.partition(".")
    modules = {each.name for each in iter_modules(getattr(parent, "__path__", ()))}
    found = first if first in vars(parent) else nearest(first, [*modules, *vars(parent)])
    if found is None:
        return f"{parent.__name__} has no module and no function of this name"
    if found in modules:
        return suggestion(":".join(filter(None, (f"{parent.__name__}.{found}", attributes))))
    return suggestion(f"{parent.__name__}:{'.'.join(filter(None, (found, more, attributes)))}")

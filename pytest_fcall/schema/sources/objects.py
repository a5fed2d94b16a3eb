"""Tools as Python objects."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema.dialect import normalise
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.docstrings import read_docstring
from pytest_fcall.schema.sources.hints import Hints, own_docstring
from pytest_fcall.schema.sources.members import is_typed_dict, members_of_function
from pytest_fcall.schema.sources.shapes import tool_from_data
from pytest_fcall.schema.words import with_type


def tool_from_object(obj: object) -> Tool:
    """Read a tool from a function, method or other callable, a Pydantic model, a TypedDict, a dataclass or a mapping.

    Name, parameters and description come from signature, type hints and docstring. A Tool is passed through.
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
        hints = Hints()
        schema = hints.fields(cls)
        return _tool(cls.__name__, _with_definitions(schema, hints), own_docstring(cls), cls)
    raise SchemaError(
        f"the class `{cls.__name__}` is no tool",
        hint="name one of its methods, or make it a Pydantic model, a TypedDict or a dataclass",
    )


def _from_function(function: Callable[..., object]) -> Tool:
    named = function.func if isinstance(function, functools.partial) else function
    name = getattr(named, "__name__", type(named).__name__)
    words = read_docstring(_docstring(named))
    hints = Hints()
    try:
        schema = hints.properties(members_of_function(function), words, name)
    except SchemaError as error:
        told = error.message if f"`{name}`" in error.message else f"`{name}`: {error.message}"
        raise SchemaError(told, hint=error.hint) from None
    return _tool(name, _with_definitions(schema, hints), _docstring(named), named)


def _docstring(function: Callable[..., object]) -> str:
    """The function's own docstring, or for an object that can be called, that of its `__call__` or its class."""
    if inspect.isroutine(function):
        return function.__doc__ or ""
    return type(function).__call__.__doc__ or own_docstring(type(function))


def _tool(name: str, schema: dict[str, Json], docstring: str, origin: object) -> Tool:
    if not name.isidentifier():
        raise SchemaError(f"{name} has no name that a model could call it by", hint="use `def` and a name")
    description = schema.pop("description", "")
    words = read_docstring(docstring).description or (description if isinstance(description, str) else "")
    module = getattr(origin, "__module__", None)
    return Tool(name, words, normalise(schema), f"{module}:{name}" if module else name)


def _pydantic_schema(cls: Any) -> dict[str, Json]:
    try:
        schema: dict[str, Json] = cls.model_json_schema()
    except Exception as error:
        raise SchemaError(f"Pydantic has no JSON Schema for `{cls.__name__}`: {str(error).splitlines()[0]}") from None
    words = read_docstring(own_docstring(cls)).parameters
    properties = schema.get("properties")
    for name, part in properties.items() if isinstance(properties, dict) else ():
        if name in words and isinstance(part, dict):
            part.setdefault("description", words[name])
    schema.pop("title", None)
    return schema


def _with_definitions(schema: dict[str, Json], hints: Hints) -> dict[str, Json]:
    return {**schema, "$defs": hints.definitions} if hints.definitions else schema

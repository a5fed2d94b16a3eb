"""The official names of types, and values read as these types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from pytest_fcall.core.expectation import Language
from pytest_fcall.matching.bfcl.java import java_value
from pytest_fcall.matching.bfcl.javascript import javascript_value

Typed: TypeAlias = tuple[Any, type, type | None]
"""A value, its declared type, and that of its items."""

_PYTHON: Mapping[str, type] = MappingProxyType(
    {
        "string": str,
        "integer": int,
        "float": float,
        "boolean": bool,
        "array": list,
        "tuple": list,
        "dict": dict,
        "any": str,
    }
)
_JAVA: Mapping[str, type] = MappingProxyType(
    {
        "byte": int,
        "short": int,
        "integer": int,
        "long": int,
        "float": float,
        "double": float,
        "boolean": bool,
        "char": str,
        "String": str,
        "any": str,
        "Array": list,
        "ArrayList": list,
        "Queue": list,
        "Stack": list,
        "Set": set,
        "HashMap": dict,
        "Hashtable": dict,
    }
)
_JAVASCRIPT: Mapping[str, type] = MappingProxyType(
    {
        "String": str,
        "integer": int,
        "Bigint": int,
        "float": float,
        "Boolean": bool,
        "array": list,
        "dict": dict,
        "any": str,
    }
)


def _python(schema: Any, value: Any) -> Typed:
    """Convert a tuple to a declared list and an integer to a declared float, but not inside lists."""
    word = schema["type"]
    declared = _PYTHON[word]
    if declared is list:
        inner = _PYTHON[schema["items"]["type"]]
        return (list(value) if type(value) is tuple and word == "tuple" else value), declared, inner
    if declared is float and type(value) is int:
        value = float(value)
    return value, declared, None


def _java(schema: Any, value: Any) -> Typed | None:
    """Read Java source text."""
    word = schema["type"]
    declared = _JAVA[word]
    if type(value) is not str:
        return None
    if word in {"Array", "ArrayList"}:
        inner = schema["items"]["type"]
        declared_inner = _JAVA[inner]
        return java_value(value, word, inner), declared, declared_inner
    return java_value(value, word), declared, None


def _javascript(schema: Any, value: Any) -> Typed | None:
    """Read JavaScript source text."""
    word = schema["type"]
    declared = _JAVASCRIPT[word]
    if type(value) is not str:
        return None
    if word == "array":
        inner = schema["items"]["type"]
        declared_inner = _JAVASCRIPT[inner]
        return javascript_value(value, word, inner), declared, declared_inner
    return javascript_value(value, word), declared, None


SOURCE_READERS: Mapping[Language, Callable[[Any, Any], Typed | None]] = MappingProxyType(
    {"python": _python, "java": _java, "javascript": _javascript}
)
"""Readers of values as their parameters declare them; they return None for values that must be source text."""

EXACT_TYPES: Mapping[Language, Mapping[str, type]] = MappingProxyType(
    {
        "python": {word: declared for word, declared in _PYTHON.items() if declared not in (list, dict)},
        "java": {},
        "javascript": {},
    }
)
"""By official name, the types whose values are right if they equal an alternative. Source text has none."""

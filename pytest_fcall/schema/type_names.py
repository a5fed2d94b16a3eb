"""Type names of the languages that tools are written in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pytest_fcall.core import Json

_ARRAYS = ("array", "list", "tuple", "arraylist", "linkedlist", "vector", "stack", "queue", "deque")
_SETS = ("set", "hashset", "treeset", "linkedhashset", "frozenset", "collection", "iterable", "sequence")
_OBJECTS = ("object", "dict", "dictionary", "map", "hashmap", "treemap", "linkedhashmap", "hashtable")
_INTEGERS = ("integer", "int", "long", "short", "byte", "bigint", "biginteger", "uint")

NAMES: Final[Mapping[str, str | None]] = MappingProxyType(
    {
        **dict.fromkeys((*_OBJECTS, "mapping", "record", "struct"), "object"),
        **dict.fromkeys((*_ARRAYS, *_SETS), "array"),
        **dict.fromkeys(("number", "float", "double", "decimal", "bigdecimal", "float32", "float64"), "number"),
        **dict.fromkeys(
            (*_INTEGERS, *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))), "integer"
        ),
        **dict.fromkeys(("string", "str", "char", "character", "charsequence", "text"), "string"),
        **dict.fromkeys(("boolean", "bool"), "boolean"),
        **dict.fromkeys(("null", "none", "nonetype", "undefined"), "null"),
        **dict.fromkeys(("any", "", "type_unspecified"), None),
    }
)
"""Type names of Python, Java, JavaScript and Gemini, in lower case. None says nothing about the type."""

_LONGEST = 100
_GENERIC = re.compile(r"(?P<outer>\w+)\s*(?:<(?P<angle>.+)>|\[(?P<square>.+)\])")


def named_type(name: str) -> dict[str, Json] | None:
    """The schema that a type name stands for; None where it is no name of a type.

    `ArrayList<String>`, `String[]`, `Dict[str, int]` also tell what is inside, as far as that is a type.
    """
    plain = name.strip().lower()
    if plain in NAMES:
        kind = NAMES[plain]
        return {} if kind is None else {"type": kind}
    if len(plain) > _LONGEST:
        return None
    if plain.endswith("[]"):
        item = named_type(plain[:-2])
        return None if item is None else {"type": "array", "items": item}
    found = _GENERIC.fullmatch(plain)
    outer = NAMES.get(found["outer"]) if found else None
    if found is None or outer not in ("array", "object"):
        return None
    inside = found["angle"] or found["square"]
    if outer == "array":
        return _holding("array", "items", inside)
    return _holding("object", "additionalProperties", inside.partition(",")[2])


def _holding(kind: str, keyword: str, inside: str) -> dict[str, Json]:
    part = named_type(inside) if inside.strip() else None
    return {"type": kind} if part is None else {"type": kind, keyword: part}

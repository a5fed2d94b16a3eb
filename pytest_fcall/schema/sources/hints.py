"""Type hints as schemas."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import pathlib
import types
import typing
import uuid
from collections import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pytest_fcall.core import Json
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.plain import plain
from pytest_fcall.schema.pointers import pointer
from pytest_fcall.schema.sources.docstrings import Docstring, read_docstring
from pytest_fcall.schema.sources.members import (
    NOTHING,
    Member,
    Members,
    is_typed_dict,
    members_of_dataclass,
    members_of_typed_dict,
)

_Schema = dict[str, Json]

_SIMPLE: Final[Mapping[object, _Schema]] = types.MappingProxyType(
    {
        Any: {},
        object: {},
        None: {"type": "null"},
        types.NoneType: {"type": "null"},
        bool: {"type": "boolean"},
        int: {"type": "integer"},
        float: {"type": "number"},
        str: {"type": "string"},
        decimal.Decimal: {"type": "number"},
        dt.date: {"type": "string", "format": "date"},
        dt.datetime: {"type": "string", "format": "date-time"},
        dt.time: {"type": "string", "format": "time"},
        dt.timedelta: {"type": "string", "format": "duration"},
        uuid.UUID: {"type": "string", "format": "uuid"},
        pathlib.Path: {"type": "string", "format": "path"},
        pathlib.PurePath: {"type": "string", "format": "path"},
    }
)
_LISTS = frozenset({list, collections.deque, abc.Sequence, abc.MutableSequence, abc.Collection, abc.Iterable})
_SETS = frozenset({set, frozenset, abc.Set, abc.MutableSet})
_MAPPINGS = frozenset({dict, collections.OrderedDict, collections.defaultdict, abc.Mapping, abc.MutableMapping})
_JSON_TYPES: Final[Mapping[type, str]] = types.MappingProxyType(
    {str: "string", bool: "boolean", int: "integer", float: "number", types.NoneType: "null"}
)
_TRANSPARENT = frozenset({"Required", "NotRequired", "ReadOnly"})


class Hints:
    """Translates the type hints of one tool.

    Classes with fields become `definitions`, so that they may refer to each other and to themselves.
    """

    def __init__(self) -> None:
        self.definitions: dict[str, Json] = {}
        self._names: dict[object, str] = {}

    def properties(self, members: Members, words: Docstring, owner: str) -> _Schema:
        """The schema of an object of `members`; a SchemaError names the member that no model could give."""
        schema: _Schema = {
            "type": "object",
            "properties": {member.name: self._member(member, words, owner) for member in members.listed},
        }
        if required := [member.name for member in members.listed if member.required]:
            schema["required"] = required
        if members.others is not NOTHING:
            schema["additionalProperties"] = self._named("**", members.others, owner) or True
        return schema

    def schema(self, hint: Any) -> _Schema:
        """The schema of the values that `hint` allows."""
        if hint is None or hint is Any or isinstance(hint, type):
            return self._class(hint)
        if isinstance(hint, typing.NewType):
            return self.schema(hint.__supertype__)
        if hasattr(hint, "__value__"):  # `type X = …`, from Python 3.12 on
            return self._shared(hint, hint.__name__, lambda: self.schema(hint.__value__))
        return self._generic(hint, get_origin(hint), get_args(hint))

    def _member(self, member: Member, words: Docstring, owner: str) -> _Schema:
        schema = self._named(member.name, member.hint, owner)
        if words.parameters.get(member.name):
            schema.setdefault("description", words.parameters[member.name])
        default = member.default.value if isinstance(member.default, enum.Enum) else member.default
        try:
            return schema if default is NOTHING else {**schema, "default": plain(default)}
        except SchemaError:  # a default that JSON cannot say is the function's own business
            return schema

    def _named(self, name: str, hint: object, owner: str) -> _Schema:
        try:
            return self.schema(hint)
        except SchemaError as error:
            raise SchemaError(f"`{name}` of `{owner}`: {error.message}", hint=error.hint) from None

    def _class(self, cls: Any) -> _Schema:
        if cls in _SIMPLE:
            return dict(_SIMPLE[cls])
        if cls in _LISTS | _SETS | _MAPPINGS | {tuple}:
            return self._generic(cls, cls, ())
        if issubclass(cls, enum.Enum):
            return _choice([member.value for member in cls])
        if _is_pydantic(cls):
            return self._pydantic(cls)
        if is_typed_dict(cls) or dataclasses.is_dataclass(cls):
            return self._shared(cls, cls.__name__, lambda: self.fields(cls))
        raise _unsupported(cls)

    def _generic(self, hint: object, origin: Any, args: tuple[Any, ...]) -> _Schema:
        if origin is Annotated:
            return self._annotated(hint, args[0], args[1:])
        if origin is Literal:
            return _choice([value.value if isinstance(value, enum.Enum) else value for value in args])
        if origin in {Union, types.UnionType}:
            return _union([self.schema(arg) for arg in args])
        if getattr(origin, "_name", None) in _TRANSPARENT:
            return self.schema(args[0])
        if origin in _LISTS | _SETS:
            items: _Schema = {"items": self.schema(args[0])} if args else {}
            return {"type": "array", **items, **({"uniqueItems": True} if origin in _SETS else {})}
        if origin is tuple:
            return self._tuple(args)
        if origin in _MAPPINGS:
            return self._mapping(*(args or (str, Any)))
        raise _unsupported(hint)

    def _annotated(self, hint: object, bare: object, notes: Sequence[object]) -> _Schema:
        if any(type(note).__module__.partition(".")[0] in {"annotated_types", "pydantic"} for note in notes):
            return self._pydantic(hint)
        schema = self.schema(bare)
        for note in notes:
            words = note if isinstance(note, str) else getattr(note, "documentation", None)
            if isinstance(words, str):
                schema["description"] = words
        return schema

    def _tuple(self, args: tuple[Any, ...]) -> _Schema:
        if not args:
            return {"type": "array"}
        if args[1:] == (...,):
            return {"type": "array", "items": self.schema(args[0])}
        items = [self.schema(arg) for arg in args]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

    def _mapping(self, key: object, value: object) -> _Schema:
        names = self.schema(key)
        if names and names.get("type") != "string":
            raise SchemaError("the keys of JSON objects are strings", hint="write dict[str, …]")
        schema: _Schema = {"type": "object", "additionalProperties": self.schema(value) or True}
        return {**schema, "propertyNames": names} if "enum" in names else schema

    def _shared(self, thing: Any, name: str, build: Callable[[], _Schema]) -> _Schema:
        if thing not in self._names:
            self._names[thing] = name if name not in self.definitions else f"{thing.__module__}.{name}"
            self.definitions[self._names[thing]] = {}  # taken, while its own parts may refer to it
            self.definitions[self._names[thing]] = build()
        return {"$ref": pointer(("$defs", self._names[thing]))}

    def fields(self, cls: type) -> _Schema:
        """The schema of a TypedDict or a dataclass."""
        if _is_pydantic(cls):
            return self._pydantic(cls)
        words = read_docstring(own_docstring(cls))
        members = members_of_typed_dict(cls) if is_typed_dict(cls) else members_of_dataclass(cls)
        schema = self.properties(members, words, cls.__name__)
        return {"description": words.description, **schema} if words.description else schema

    def _pydantic(self, hint: Any) -> _Schema:
        from pydantic import TypeAdapter  # its classes are in the hint, so it is there

        try:
            schema = TypeAdapter[Any](hint).json_schema()
        except Exception as error:
            raise SchemaError(f"Pydantic has no JSON Schema for it: {str(error).splitlines()[0]}") from None
        for name, definition in schema.pop("$defs", {}).items():
            if self.definitions.setdefault(name, definition) != definition:
                raise SchemaError(f"two different classes are called `{name}`", hint="rename one of them")
        return schema


def _is_pydantic(cls: type) -> bool:
    return hasattr(cls, "__get_pydantic_core_schema__") or hasattr(cls, "__pydantic_core_schema__")


def own_docstring(cls: type) -> str:
    """The docstring that a person wrote: neither inherited nor the signature that dataclasses put there."""
    words = cls.__dict__.get("__doc__") or ""
    return "" if words.startswith(f"{cls.__name__}(") else words


def _choice(values: Sequence[Any]) -> _Schema:
    kinds = list(dict.fromkeys(_JSON_TYPES.get(type(value)) for value in values))
    if None in kinds:
        wrong = next(value for value in values if type(value) not in _JSON_TYPES)
        raise SchemaError(f"the choice {wrong!r} is no string, number, boolean or null")
    return {"enum": list(values), "type": kinds[0] if len(kinds) == 1 else [str(kind) for kind in kinds]}


def _union(forms: Sequence[_Schema]) -> _Schema:
    different = [form for index, form in enumerate(forms) if form not in forms[:index]]
    return different[0] if len(different) == 1 else {"anyOf": list(different)}


def _unsupported(hint: object) -> SchemaError:
    name = hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
    return SchemaError(
        f"no model can give a value of type {name}",
        hint="use str, int, float, bool, list, dict, Literal, Enum, a TypedDict, dataclass or Pydantic model; "
        "what the app itself fills in belongs in a wrapper around the function",
    )

"""Type hints of functions, TypedDicts and dataclasses as JSON Schemas."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import functools
import inspect
import pathlib
import sys
import types
import typing
import uuid
from collections import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NotRequired, Required, Union, get_args, get_origin

from pytest_fcall.core.values import Json
from pytest_fcall.schema.dialect import json_value
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.docstrings import Docstring, read_docstring
from pytest_fcall.schema.traversal import pointer

MISSING: Final = inspect.Parameter.empty
"""The value of a type hint or default that is missing."""


@dataclass(frozen=True, slots=True)
class Member:
    """A parameter of a function, or a field of a class."""

    name: str
    type_hint: object = Any
    required: bool = True
    default: object = MISSING


@dataclass(frozen=True, slots=True)
class Members:
    """The members of a function or class. `extra_hint` is the type hint of `**kwargs`."""

    named: tuple[Member, ...]
    extra_hint: object = MISSING


def members_of_function(function: Callable[..., object]) -> Members:
    """The parameters that can be passed by name. Raises SchemaError."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError, NameError) as error:
        raise SchemaError(f"its signature cannot be read: {error}") from None
    if parameters and _is_unbound(function, parameters[0]):
        del parameters[0]
    scope = _scope(function)
    named = []
    extra_hint: object = MISSING
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            continue
        hint = _resolved(parameter.name, parameter.annotation, scope)
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            extra_hint = hint
        else:
            named.append(_parameter(parameter.name, hint, parameter.default))
    return Members(tuple(named), extra_hint)


def members_of_typed_dict(cls: type) -> Members:
    """The keys of a TypedDict."""
    required: frozenset[str] = getattr(cls, "__required_keys__", frozenset())
    hints = _class_hints(cls)
    return Members(tuple(Member(name, hint, _is_required(hint, name in required)) for name, hint in hints.items()))


def members_of_dataclass(cls: type) -> Members:
    """The fields of a dataclass that its constructor takes."""
    hints = _class_hints(cls)
    return Members(tuple(_field(field, hints[field.name]) for field in dataclasses.fields(cls) if field.init))


def is_typed_dict(cls: type) -> bool:
    """Whether `cls` is a TypedDict, of `typing` or of `typing_extensions`."""
    return issubclass(cls, dict) and hasattr(cls, "__required_keys__")


def _is_unbound(function: Callable[..., object], first: inspect.Parameter) -> bool:
    """Whether `first` is the `self` of a method that is accessed on its class."""
    name = getattr(function, "__qualname__", "")
    return first.name in {"self", "cls"} and first.annotation is MISSING and "." in name.rpartition("<locals>.")[2]


def _parameter(name: str, hint: object, default: object) -> Member:
    if default is MISSING:
        return Member(name, hint)
    if _is_pydantic_field(default):
        annotated: Any = Annotated
        return Member(name, annotated[hint, default], required=default.is_required())
    return Member(name, hint, required=False, default=default)


def _is_pydantic_field(value: object) -> typing.TypeGuard[Any]:
    fields = sys.modules.get("pydantic.fields")
    return fields is not None and isinstance(value, fields.FieldInfo)


def _field(field: dataclasses.Field[Any], hint: object) -> Member:
    if field.default is not dataclasses.MISSING:
        return Member(field.name, hint, required=False, default=field.default)
    return Member(field.name, hint, required=field.default_factory is dataclasses.MISSING)


def _is_required(hint: object, otherwise: bool) -> bool:
    """Whether a key is required. Only the hint shows it if the annotations of the class are strings."""
    origin = get_origin(hint)
    return origin is Required or (otherwise and origin is not NotRequired)


def _class_hints(cls: type) -> Mapping[str, object]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except Exception as error:  # a hint in quotes is code, and may raise anything
        raise SchemaError(f"the type hints of `{cls.__name__}` cannot be resolved: {error}", hint=_HINT) from None


def pydantic_refusal(what: str, error: Exception) -> SchemaError:
    """The error where Pydantic cannot describe `what`. A class may raise any error there, also one without text."""
    text = next(iter(str(error).splitlines()), type(error).__name__)
    return SchemaError(f"Pydantic has no JSON Schema for {what}: {text}")


def _scope(function: Callable[..., object]) -> Mapping[str, Any]:
    """The names that the annotations of `function` may use."""
    while isinstance(function, functools.partial):
        function = function.func
    if not isinstance(function, types.FunctionType | types.MethodType):
        function = type(function).__call__
    return getattr(inspect.unwrap(function), "__globals__", {})


def _resolved(name: str, hint: object, scope: Mapping[str, Any]) -> object:
    if hint is MISSING:
        return Any

    def holder() -> None: ...

    holder.__annotations__ = {name: hint}
    try:
        return typing.get_type_hints(holder, dict(scope), include_extras=True)[name]
    except Exception as error:  # as in `_class_hints`
        raise SchemaError(f"the type hint {hint} of `{name}` cannot be resolved: {error}", hint=_HINT) from None


_HINT = "type hints must be found when the module runs: import them outside `if TYPE_CHECKING:`"


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


class HintSchemas:
    """Translates the type hints of one tool to schemas.

    Classes with fields become `definitions`, so that they may refer to each other and to themselves.
    """

    def __init__(self) -> None:
        self.definitions: dict[str, Json] = {}
        self._names: dict[object, str] = {}

    def properties(self, members: Members, words: Docstring, owner: str) -> _Schema:
        """The schema of an object of `members`. Raises SchemaError for a member that has no JSON Schema."""
        schema: _Schema = {
            "type": "object",
            "properties": {member.name: self._member(member, words, owner) for member in members.named},
        }
        if required := [member.name for member in members.named if member.required]:
            schema["required"] = required
        if members.extra_hint is not MISSING:
            schema["additionalProperties"] = self._named("**", members.extra_hint, owner) or True
        return schema

    def schema(self, hint: Any) -> _Schema:
        """The schema of a type hint. Raises SchemaError if it has none."""
        if hint is None or hint is Any or isinstance(hint, type):
            return self._class(hint)
        if isinstance(hint, typing.NewType):
            return self.schema(hint.__supertype__)
        if hasattr(hint, "__value__"):  # `type X = …`, from Python 3.12 on
            return self._shared(hint, hint.__name__, lambda: self.schema(hint.__value__))
        return self._generic(hint, get_origin(hint), get_args(hint))

    def _member(self, member: Member, words: Docstring, owner: str) -> _Schema:
        schema = self._named(member.name, member.type_hint, owner)
        if words.parameters.get(member.name):
            schema.setdefault("description", words.parameters[member.name])
        default = member.default.value if isinstance(member.default, enum.Enum) else member.default
        try:
            return schema if default is MISSING else {**schema, "default": json_value(default)}
        except SchemaError:  # a default may be any Python object
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
            return self._shared(cls, cls.__name__, lambda: self.object_schema(cls))
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
            raise SchemaError("the keys of a JSON object must be strings", hint="write dict[str, …]")
        schema: _Schema = {"type": "object", "additionalProperties": self.schema(value) or True}
        return {**schema, "propertyNames": names} if "enum" in names else schema

    def _shared(self, thing: Any, name: str, build: Callable[[], _Schema]) -> _Schema:
        if thing not in self._names:
            self._names[thing] = name if name not in self.definitions else f"{thing.__module__}.{name}"
            self.definitions[self._names[thing]] = {}  # reserves the name, since the class may refer to itself
            self.definitions[self._names[thing]] = build()
        return {"$ref": pointer(("$defs", self._names[thing]))}

    def object_schema(self, cls: type) -> _Schema:
        """The schema of a TypedDict or a dataclass."""
        if _is_pydantic(cls):
            return self._pydantic(cls)
        words = read_docstring(own_docstring(cls))
        members = members_of_typed_dict(cls) if is_typed_dict(cls) else members_of_dataclass(cls)
        schema = self.properties(members, words, cls.__name__)
        return {"description": words.description, **schema} if words.description else schema

    def _pydantic(self, hint: Any) -> _Schema:
        from pydantic import TypeAdapter  # installed, since the hint contains its classes

        try:
            schema = TypeAdapter[Any](hint).json_schema()
        except Exception as error:  # hooks of the classes run here
            raise pydantic_refusal("it", error) from None
        for name, definition in schema.pop("$defs", {}).items():
            if self.definitions.setdefault(name, definition) != definition:
                raise SchemaError(f"two different classes are called `{name}`", hint="rename one of them")
        return schema


def _is_pydantic(cls: type) -> bool:
    return hasattr(cls, "__get_pydantic_core_schema__") or hasattr(cls, "__pydantic_core_schema__")


def own_docstring(cls: type) -> str:
    """The docstring in the class itself: not inherited, and not the signature that dataclasses generate."""
    words = cls.__dict__.get("__doc__") or ""
    return "" if words.startswith(f"{cls.__name__}(") else words


def _choice(values: Sequence[Any]) -> _Schema:
    kinds = list(dict.fromkeys(_JSON_TYPES.get(type(value)) for value in values))
    if None in kinds:
        wrong = next(value for value in values if type(value) not in _JSON_TYPES)
        raise SchemaError(f"the choice {wrong!r} is not a string, number, boolean or null")
    return {"enum": list(values), "type": kinds[0] if len(kinds) == 1 else [str(kind) for kind in kinds]}


def _union(forms: Sequence[_Schema]) -> _Schema:
    different = [form for index, form in enumerate(forms) if form not in forms[:index]]
    return different[0] if len(different) == 1 else {"anyOf": list(different)}


def _unsupported(hint: object) -> SchemaError:
    name = hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
    return SchemaError(
        f"the type {name} has no JSON Schema",
        hint="use str, int, float, bool, list, dict, Literal, Enum, a TypedDict, dataclass or Pydantic model; "
        "if the app passes this argument itself, wrap the function",
    )

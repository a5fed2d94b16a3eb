"""The named parts of functions, TypedDicts and dataclasses, with their type hints resolved."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, NotRequired, Required, get_origin

from pytest_fcall.schema.errors import SchemaError

NOTHING: Final = inspect.Parameter.empty
"""Stands for a hint or default that is not there."""


@dataclass(frozen=True, slots=True)
class Member:
    """A parameter or a field."""

    name: str
    hint: object = Any
    required: bool = True
    default: object = NOTHING


@dataclass(frozen=True, slots=True)
class Members:
    """All members of one thing. `others` is the hint of keyword arguments that have no name of their own."""

    listed: tuple[Member, ...]
    others: object = NOTHING


def members_of_function(function: Callable[..., object]) -> Members:
    """The parameters that a call can name."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError, NameError) as error:
        raise SchemaError(f"its signature cannot be read: {error}") from None
    if parameters and _is_unbound(function, parameters[0]):
        del parameters[0]
    scope = _scope(function)
    listed = []
    others: object = NOTHING
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            continue
        hint = _resolved(parameter.name, parameter.annotation, scope)
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            others = hint
        else:
            listed.append(_parameter(parameter.name, hint, parameter.default))
    return Members(tuple(listed), others)


def members_of_typed_dict(cls: type) -> Members:
    """The keys of a TypedDict."""
    required: frozenset[str] = getattr(cls, "__required_keys__", frozenset())
    hints = _class_hints(cls)
    return Members(tuple(Member(name, hint, _is_required(hint, name in required)) for name, hint in hints.items()))


def members_of_dataclass(cls: type) -> Members:
    """The fields that a dataclass is made from."""
    hints = _class_hints(cls)
    return Members(tuple(_field(field, hints[field.name]) for field in dataclasses.fields(cls) if field.init))


def is_typed_dict(cls: type) -> bool:
    """Whether `cls` is a TypedDict, of `typing` or of `typing_extensions`."""
    return issubclass(cls, dict) and hasattr(cls, "__required_keys__")


def _is_unbound(function: Callable[..., object], first: inspect.Parameter) -> bool:
    """Whether `first` is the `self` of a method that was taken from its class."""
    name = getattr(function, "__qualname__", "")
    return first.name in {"self", "cls"} and first.annotation is NOTHING and "." in name.rpartition("<locals>.")[2]


def _parameter(name: str, hint: object, default: object) -> Member:
    if default is NOTHING:
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
    """What the hint itself says; a class does not know where its annotations are strings."""
    origin = get_origin(hint)
    return origin is Required or (otherwise and origin is not NotRequired)


def _class_hints(cls: type) -> Mapping[str, object]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except Exception as error:
        raise SchemaError(f"the type hints of `{cls.__name__}` cannot be resolved: {error}", hint=_HINT) from None


def _scope(function: Callable[..., object]) -> Mapping[str, Any]:
    """The names that the annotations of `function` may use."""
    while isinstance(function, functools.partial):
        function = function.func
    if not isinstance(function, types.FunctionType | types.MethodType):
        function = type(function).__call__
    return getattr(inspect.unwrap(function), "__globals__", {})


def _resolved(name: str, hint: object, scope: Mapping[str, Any]) -> object:
    if hint is NOTHING:
        return Any

    def holder() -> None: ...

    holder.__annotations__ = {name: hint}
    try:
        return typing.get_type_hints(holder, dict(scope), include_extras=True)[name]
    except Exception as error:
        raise SchemaError(f"the type hint {hint} of `{name}` cannot be resolved: {error}", hint=_HINT) from None


_HINT = "type hints must be found when the module runs: import them outside `if TYPE_CHECKING:`"

"""The original rule for the arguments of one call, with its defects, which comments name.

Whatever the original fails on raises an exception here, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pytest_fcall.matching.bfcl.ruling import VALID, Objection, Ruling, objection, short_repr

_TYPES: Final[Mapping[str, type]] = MappingProxyType(
    {
        **dict.fromkeys(("string", "any"), str),
        **dict.fromkeys(("integer", "int", "number"), int),
        "float": float,
        "boolean": bool,
        "enum": enumerate,  # no value is one, so that any string passes
        **dict.fromkeys(("array", "tuple", "list", "objectArray", "list(string)", "list(enum)"), list),
        **dict.fromkeys(("dict", "object"), dict),
    }
)
_WITH_ITEMS: Final = frozenset({"array", "tuple", "list(string)", "list(enum)", "object", "objectArray"})
_IGNORED: Final = re.compile(r"[ ,./\-_*^]")
_BOOLEANS: Final[Mapping[str, bool]] = MappingProxyType({"true": True, "false": False})


def check_arguments(function: Any, called: str, given: Mapping[Any, Any], right: Any) -> Ruling:
    """Judge the arguments of a call by those of the right one."""
    parameters = function["parameters"]
    if given == {} or parameters == {}:
        return VALID if given == parameters else objection("wrong_param", "arguments are given, or parameters are none")
    known = parameters["properties"]
    if right == known:
        return VALID
    if right == {}:
        return objection("wrong_param", "the right call has no arguments")
    if function["name"] != called:
        return objection("wrong_function_name", f"`{called}` was called, expected `{function['name']}`")
    for name in parameters["required"]:
        if name not in given:
            return objection("lack_args", f"the required argument `{name}` is missing", argument=name)
    for name, value in given.items():  # what is right and not required may be missing
        if name not in known or name not in right:
            return objection("addition_args", f"the argument `{name}` is not expected", argument=name)
        if wrong := _argument_objection(name, value, right[name], known[name]):
            return wrong
    return VALID


def _argument_objection(name: str, value: Any, right: Any, schema: Any) -> Objection:
    described = schema["type"]
    expected, inner = _TYPES[described], _item_type(schema) if described in _WITH_ITEMS else None
    if described == "tuple" and type(value) is tuple:
        value = list(value)
    if described == "float" and type(value) is int:
        value = float(value)
    found = _compare_types(value, right, expected, inner)
    if not found.fits:
        message = f"`{name}` is {short_repr(value)}, which is not of the type `{described}`"
        return objection("type_error", message, argument=name)
    error = "" if found.is_variable else _value_error(value, right, expected, inner, described)
    message = f"`{name}` is {short_repr(value)}, expected {short_repr(right)}"
    return objection(error, message, argument=name) if error else None


def _item_type(schema: Any) -> type:
    try:
        described = schema["items"]["type"]
    except Exception:  # of whatever kind
        described = next((each for each in ("string", "enum") if each in schema["type"]), "dict")
    return _TYPES[described]


class _TypeComparison(NamedTuple):
    fits: bool
    is_variable: bool
    """Whether the right value is of another type than the schema says: then no value is compared."""


def _compare_types(value: Any, right: Any, expected: type, inner: type | None = None) -> _TypeComparison:
    kind = None if right == "" else type(right)
    is_variable = kind is not None and kind is not expected
    value = _as_boolean(value)
    fits = True
    if type(value) is expected:
        if inner is None:
            return _TypeComparison(True, is_variable)
        items: Any = value
        for item in right:  # without items, as in an empty list, nothing fits
            if type(item) is not list or all(_compare_types(each, item, inner).fits for each in items):
                return _TypeComparison(True, is_variable)
        fits = False
    if kind is not None and (type(value) is kind or right == value):
        return _TypeComparison(fits, True)
    return _TypeComparison(False, is_variable)


def _value_error(value: Any, right: Any, expected: type, inner: type | None, described: str) -> str:
    """The error type of a value of the right type; empty where it passes. Numbers and booleans are not compared."""
    if expected is dict:
        return "" if _is_same_object(value, right) else "value_error"
    if expected is list and inner is dict:
        if described == "objectArray":
            if len(value) != len(right):
                return "value_error:dict_items"
            raise KeyError(0)  # the original looks for a list in its own result
        return _object_list_error(value, right)
    if expected is str:
        return "" if _plain(right) in _plain(value) else "value_error:string"
    if expected is list:
        return "" if [*map(_plain, value)] == [*map(_plain, right)] else "value_error:list/tuple"
    return ""


def _object_list_error(value: Any, right: Any) -> str:
    if len(value) != len(right):
        return "value_error:list_dict_count"
    return "" if all(map(_is_same_object, value, right)) else "value_error"


def _is_same_object(value: Any, right: Any) -> bool:
    """Whether the texts of right values are in those of the values given, key by key: 5 is in 15, and in [15]."""
    if not isinstance(value, dict) or len([*value.keys()]) != len([*right.keys()]):
        return False
    for key, raw in value.items():
        item = _as_boolean(raw)
        if key not in right:
            return False
        if isinstance(right[key], dict):
            if not _is_same_object(item, right[key]):
                return False
        elif str(_plain(right[key])) not in str(_plain(item)):
            return False
    return True


def _as_boolean(value: Any) -> Any:
    return _BOOLEANS.get(value, value) if type(value) is str else value


def _plain(value: Any) -> Any:
    """A string as it is compared: without case, blanks and some punctuation. Any other value is itself."""
    return _IGNORED.sub("", value).lower().replace("'", '"') if type(value) is str else value

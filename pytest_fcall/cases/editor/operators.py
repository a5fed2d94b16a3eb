"""The JSON Schema of expected values, made from the table of operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import get_args

from pytest_fcall.cases.editor.words import (
    FILLED,
    Schema,
    any_key,
    by_type,
    keys_with_dollar,
    obj,
    or_filled,
    ref,
    string,
)
from pytest_fcall.core import OPERATORS, OperandKind, OperatorSpec, Strings
from pytest_fcall.core.operators import MOST_DIGITS, MOST_VOTES

_TIME = r"^\d{2}:\d{2}(:\d{2})?$"
_DAY = (
    r"([Tt]oday|[Tt]omorrow|[Yy]esterday"
    r"|([Mm]on|[Tt]ues|[Ww]ednes|[Tt]hurs|[Ff]ri|[Ss]atur|[Ss]un)day"
    r"|[+-]\d{1,4}[dw]|\d{4}-\d{2}-\d{2})"
)
_MOMENT = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:?\d{2}.*"
_TYPE: Schema = {"enum": ["null", "boolean", "integer", "number", "string", "array", "object", None]}
_NUMBER = or_filled({"type": "number"})
_LIST = or_filled({"type": "array", "items": ref("value")})
_DAY_NAME: Schema = {"type": "string", "pattern": f"^{_DAY}$|{FILLED}"}
_SPAN = obj(
    "A span of one day.",
    {
        "day": {"description": "The day, as in `$date`.", **_DAY_NAME},
        "from": string("The earliest time, HH:MM.", f"{_TIME}|{FILLED}"),
        "to": string("The latest time, HH:MM.", f"{_TIME}|{FILLED}"),
    },
    required=["day"],
)

_OPERANDS: Mapping[OperandKind, Schema] = MappingProxyType(
    {
        "pattern": ref("value"),
        "patterns": _LIST | {"minItems": 1},
        "list": _LIST,
        "container": {"type": ["array", "object"], "items": ref("value"), "additionalProperties": ref("value")},
        "value": {},
        "true": {"const": True},
        "string": {"type": "string"},
        "regex": {"type": "string", "format": "regex"},
        "strings": {"enum": [*get_args(Strings)]},
        "number": _NUMBER,
        "tolerance": {"type": ["number", "string"], "minimum": 0, "pattern": rf"^\d+(\.\d+)?\s*%$|{FILLED}"},
        "range": or_filled({"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2}),
        "day": _DAY_NAME,
        "moment": by_type("", {"type": "string", "pattern": f"^{_MOMENT}$|{FILLED}"}, _SPAN),
        "count": or_filled({"type": "integer", "minimum": 1, "maximum": MOST_VOTES}),
        "types": {"anyOf": [_TYPE, {"type": "array", "items": _TYPE, "minItems": 1}]},
        "share": or_filled({"type": "number", "minimum": 0, "maximum": 1}),
        "digits": or_filled({"type": "integer", "minimum": 0, "maximum": MOST_DIGITS}),
        "within_text": {"const": "text"},
        "any_order": {"const": "any_order"},
        "like": {"type": "string"},
        "reference": {"type": "string", "pattern": r"^[^\s.\[]+\.(result|args)([.\[].*)?$"},
    }
)


def operator_definitions(comparators: Iterable[str] = ()) -> dict[str, Schema]:
    """Definitions of an expected `value`, of a call's `arguments` and of the one `operator` of a match rule."""
    own: dict[str, Schema] = {f"${name}": {"description": "An operator of this project."} for name in comparators}
    operators = {f"${name}": _operand(spec) for name, spec in OPERATORS.items()} | own
    alone = [_alone(name, spec) for name, spec in OPERATORS.items()] + [_with_options(name) for name in own]
    dollars = keys_with_dollar(list(operators))
    return {
        "value": {
            "description": "The expected value; operators may stand anywhere inside.",
            "properties": dict(operators),
            "additionalProperties": ref("value"),
            "propertyNames": dollars,
            "items": ref("value"),
            "allOf": list(alone),
        },
        "operator": {
            "description": "An operator.",
            "type": "object",
            "properties": dict(operators),
            "additionalProperties": ref("value"),
            "propertyNames": dollars,
            "allOf": list(alone),
            **any_key(*operators),
        },
        "arguments": {
            "description": "The arguments of the call, by name. Nothing: no arguments but defaults.",
            "type": ["object", "null", "string"],
            "pattern": FILLED,
            "properties": {"$ignore": {"description": "Any arguments will do.", "const": True}},
            "additionalProperties": ref("value"),
            "propertyNames": keys_with_dollar(["$ignore"]),
            "allOf": [_only_key("$ignore")],
        },
    }


def _operand(spec: OperatorSpec) -> Schema:
    return {**_OPERANDS[spec.operand], "description": f"{spec.meaning[0].upper()}{spec.meaning[1:]}."}


def _alone(name: str, spec: OperatorSpec) -> Schema:
    """Beside an operator stand its options and nothing else."""
    if not spec.options:
        return _only_key(f"${name}")
    options = {option: _OPERANDS[kind] for option, kind in spec.options.items()}
    return {
        "if": {"required": [f"${name}"]},
        "then": {"properties": options, "propertyNames": {"enum": [f"${name}", *options]}},
    }


def _with_options(name: str) -> Schema:
    """Beside a project's own operator stand options that only it knows, but no other operator."""
    return {"if": {"required": [name]}, "then": {"propertyNames": keys_with_dollar([name])}}


def _only_key(name: str) -> Schema:
    return {"if": {"required": [name]}, "then": {"maxProperties": 1}}

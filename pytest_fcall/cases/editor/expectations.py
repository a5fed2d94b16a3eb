"""The JSON Schema of `expect:` and of expected values, generated from the table of operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import get_args

from pytest_fcall.cases.calls import CALL_WORDS
from pytest_fcall.cases.editor.json_schema import (
    FILLED,
    Schema,
    any_key,
    anything,
    array,
    by_type,
    choice,
    keys_with_dollar,
    mapping,
    obj,
    or_placeholder,
    or_word,
    ref,
    string,
)
from pytest_fcall.cases.patterns import TYPES
from pytest_fcall.core.expectation import Strings
from pytest_fcall.core.operators import MOST_DIGITS, MOST_VOTES, OPERATORS, OperandKind, OperatorSpec
from pytest_fcall.core.values import Json

_TIME = r"^\d{2}:\d{2}(:\d{2})?$"
_DAY = (
    r"([Tt]oday|[Tt]omorrow|[Yy]esterday"
    r"|([Mm]on|[Tt]ues|[Ww]ednes|[Tt]hurs|[Ff]ri|[Ss]atur|[Ss]un)day"
    r"|[+-]\d{1,6}[dw]|\d{4}-\d{2}-\d{2})"
)
_MOMENT = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:?\d{2}.*"
_TYPE: Schema = {"enum": [*TYPES, None]}
_NUMBER = or_placeholder({"type": "number"})
_LIST = or_placeholder({"type": "array", "items": ref("value")})
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
        "range": or_placeholder({"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2}),
        "day": _DAY_NAME,
        "moment": by_type("", {"type": "string", "pattern": f"^{_MOMENT}$|{FILLED}"}, _SPAN),
        "count": or_placeholder({"type": "integer", "minimum": 1, "maximum": MOST_VOTES}),
        "types": {"anyOf": [_TYPE, {"type": "array", "items": _TYPE, "minItems": 1}]},
        "share": or_placeholder({"type": "number", "minimum": 0, "maximum": 1}),
        "digits": or_placeholder({"type": "integer", "minimum": 0, "maximum": MOST_DIGITS}),
        "within_text": {"const": "text"},
        "any_order": {"const": "any_order"},
        "like": {"type": "string"},
        "reference": {"type": "string", "pattern": r"^[^\s.\[]+\.(result|args)([.\[].*)?$"},
    }
)


def operator_definitions(comparators: Iterable[str] = ()) -> dict[str, Schema]:
    """The definitions of an expected `value`, of the `arguments` of a call and of the `operator` of a match rule."""
    own: dict[str, Schema] = {f"${name}": {"description": "An operator of this project."} for name in comparators}
    operators = {f"${name}": _operand(spec) for name, spec in OPERATORS.items()} | own
    alone = [_alone(name, spec) for name, spec in OPERATORS.items()] + [_with_options(name) for name in own]
    dollars = keys_with_dollar(list(operators))
    return {
        "value": {
            "description": "The expected value; operators are allowed anywhere inside.",
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
            "description": "The arguments of the call, by name. Empty: no arguments but defaults.",
            "type": ["object", "null", "string"],
            "pattern": FILLED,
            "properties": {"$ignore": {"description": "Any arguments are right.", "const": True}},
            "additionalProperties": ref("value"),
            "propertyNames": keys_with_dollar(["$ignore"]),
            "allOf": [_only_key("$ignore")],
        },
    }


def _operand(spec: OperatorSpec) -> Schema:
    return {**_OPERANDS[spec.operand], "description": f"{spec.meaning[0].upper()}{spec.meaning[1:]}."}


def _alone(name: str, spec: OperatorSpec) -> Schema:
    """Next to an operator, only its options are allowed."""
    if not spec.options:
        return _only_key(f"${name}")
    options = {option: _OPERANDS[kind] for option, kind in spec.options.items()}
    return {
        "if": {"required": [f"${name}"]},
        "then": {"properties": options, "propertyNames": {"enum": [f"${name}", *options]}},
    }


def _with_options(name: str) -> Schema:
    """Next to an operator of the project any options are allowed, but no other operator."""
    return {"if": {"required": [name]}, "then": {"propertyNames": keys_with_dollar([name])}}


def _only_key(name: str) -> Schema:
    return {"if": {"required": [name]}, "then": {"maxProperties": 1}}


_ABSTAIN = "`no_call`: the model must not call anything; `any_call`: it must call something."


def expectation_definitions() -> dict[str, Schema]:
    """The definitions of `expect` and of its parts."""
    calls = array("", ref("call"), 0)
    alternatives = array("Alternatives, one of which must hold.", ref("alternative"))
    return {
        "expect": or_word(
            by_type(
                f"The right answer: a list of calls, or {_ABSTAIN}",
                calls,
                _rules({"any_of": alternatives}, ("calls", "any_of", "never")),
            ),
            *CALL_WORDS,
        ),
        "calls": or_word({**calls, "description": f"The calls that must be made, or {_ABSTAIN}"}, *CALL_WORDS),
        "alternative": or_word(_rules({}, ("calls", "never")), *CALL_WORDS),
        "call": _call(),
        "call_pattern": by_type(
            "A tool name or a glob such as `delete_*`, with or without arguments.",
            {"type": "string"},
            {**mapping("", ref("arguments")), "minProperties": 1, "maxProperties": 1},
        ),
    }


def _rules(more: Mapping[str, Schema], needed: Sequence[str]) -> Schema:
    rules = obj(
        "A right answer, with its rules.",
        {
            "calls": ref("calls"),
            "order": choice("`any` (the default), or `strict`: in the listed order.", "any", "strict"),
            "extra": choice("Whether calls that are not listed are allowed.", "forbid", "allow"),
            "parallel": choice(
                "`as_given`: the calls of a stage must be in one message; `free`: they may be in several.",
                "as_given",
                "free",
            ),
            "allow": array("Calls that may be made besides those listed.", ref("call_pattern"), 0),
            "never": array("Calls that must not be made.", ref("call_pattern"), 0),
            **more,
        },
    )
    both: Json = {"type": "object", "required": ["calls", "any_of"]}
    return rules | any_key(*needed) | {"not": both}


def _call() -> Schema:
    """A call. The name of the tool is any key; the keys next to it are reserved."""
    beside = {
        "args": choice("`open`: optional arguments that are not named may have any value.", "open"),
        "returns": anything("The result that the model gets."),
        "returns_each": array("The results of repeated calls that the model gets, in order.", {}),
        "raises": string("The error that the model gets."),
        "result": {"description": "The expected result of the call when it is carried out.", **ref("value")},
        "times": by_type(
            "The number of calls, or the fewest and the most (`null`: no upper bound). The default is one.",
            {"type": "integer", "minimum": 1},
            {"type": "array", "items": {"type": ["integer", "null"]}, "minItems": 2, "maxItems": 2},
            {"type": "string", "pattern": FILLED},
        ),
        "as": string("A name for this call, for `$from` in later ones.", r"^[^\W\d]\w*$"),
    }
    then = array("Calls that must come after all calls above.", {**ref("call"), "not": {"required": ["then"]}})
    return {
        "description": "`tool name: {arguments}`, or a `then:` group.",
        "type": "object",
        "properties": {"then": then, **beside},
        "additionalProperties": ref("arguments"),
        "if": {"required": ["then"]},
        "then": {"maxProperties": 1},
        "else": {"not": {"propertyNames": {"enum": list(beside)}}},
    }

"""The JSON Schema of what a right answer is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.cases.editor.words import (
    FILLED,
    Schema,
    anything,
    array,
    choice,
    either,
    mapping,
    obj,
    or_filled,
    ref,
    string,
)

_TIMES = either(
    "How often the call must be made: a number, or the fewest and the most (`null`: no upper bound). Else once.",
    or_filled({"type": "integer", "minimum": 1}),
    {
        "type": "array",
        "items": {"type": ["integer", "null"], "minimum": 0},
        "minItems": 2,
        "maxItems": 2,
    },
)


def expectation_definitions() -> dict[str, Schema]:
    """Definitions of `expect` and of what stands in it."""
    alternatives = array("Alternatives, one of which must hold.", ref("alternative"))
    filled: Schema = {"type": "string", "pattern": FILLED}
    return {
        "expect": either("What a right answer is.", _word(), ref("calls"), ref("expectation"), filled),
        "expectation": _rules({"any_of": alternatives}, ("calls", "any_of", "never")),
        "alternative": either("One right answer.", _word(), _rules({}, ("calls", "never"))),
        "calls": array("Calls, in any order. An empty list is `no_call`.", ref("call"), 0),
        "call": _call(),
        "call_pattern": either(
            "Calls by name, or by name and arguments.",
            {"type": "string"},
            mapping("A tool name, or a glob, and what its arguments must be to count.", ref("arguments"))
            | {"minProperties": 1, "maxProperties": 1},
        ),
    }


def _rules(more: Mapping[str, Schema], needed: Sequence[str]) -> Schema:
    rules = obj(
        "A right answer, with its rules.",
        {
            "calls": either("The calls that must be made.", ref("calls"), _word()),
            "order": choice("`any` (the default), or `strict`: just as listed.", "any", "strict"),
            "extra": choice("Whether calls that are not listed are allowed.", "forbid", "allow"),
            "parallel": choice(
                "`as_given`: the calls come in one message; `free`: one after another is as good.", "as_given", "free"
            ),
            "allow": array("Calls that may be made beside those listed.", ref("call_pattern"), 0),
            "never": array("Calls that must not be made.", ref("call_pattern"), 0),
            **more,
        },
    )
    return rules | {"anyOf": [{"required": [key]} for key in needed], "not": {"required": ["calls", "any_of"]}}


def _word() -> Schema:
    return choice(
        "`no_call`: the model must not call anything. `any_call`: it must call something.", "no_call", "any_call"
    )


def _call() -> Schema:
    """A tool's name is a key that only the case knows; the words beside it are reserved."""
    beside = {
        "args": choice("`open`: optional arguments that are not named are free.", "open"),
        "returns": anything("What the call gives back to the model."),
        "returns_each": array("What the calls give back, one result a call, in order.", {}),
        "raises": string("The error that the call gives back to the model."),
        "times": _TIMES,
        "as": string("A name for this call, for `$from` in later ones.", r"^[^\W\d]\w*$"),
    }
    then = array("Calls that must come after everything above.", {**ref("call"), "not": {"required": ["then"]}})
    return {
        "description": "`tool name: {arguments}`, or a `then:` group.",
        "type": "object",
        "properties": {"then": then, **beside},
        "additionalProperties": ref("arguments"),
        "if": {"required": ["then"]},
        "then": {"maxProperties": 1},
        "else": {"not": {"propertyNames": {"enum": list(beside)}}},
    }

"""The JSON Schema of what a right answer is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.cases.editor.words import (
    FILLED,
    Schema,
    any_key,
    anything,
    array,
    by_type,
    choice,
    mapping,
    obj,
    or_word,
    ref,
    string,
)
from pytest_fcall.core import Json

_WORDS = ("no_call", "any_call")
_ABSTAIN = "`no_call`: the model must not call anything; `any_call`: it must call something."


def expectation_definitions() -> dict[str, Schema]:
    """Definitions of `expect` and of what stands in it."""
    calls = array("", ref("call"), 0)
    alternatives = array("Alternatives, one of which must hold.", ref("alternative"))
    return {
        "expect": or_word(
            by_type(
                f"What a right answer is: a list of calls, or {_ABSTAIN}",
                calls,
                _rules({"any_of": alternatives}, ("calls", "any_of", "never")),
            ),
            *_WORDS,
        ),
        "calls": or_word({**calls, "description": f"The calls that must be made, or {_ABSTAIN}"}, *_WORDS),
        "alternative": or_word(_rules({}, ("calls", "never")), *_WORDS),
        "call": _call(),
        "call_pattern": by_type(
            "A tool name, a glob such as `delete_*`, or either with what the arguments must be.",
            {"type": "string"},
            {**mapping("", ref("arguments")), "minProperties": 1, "maxProperties": 1},
        ),
    }


def _rules(more: Mapping[str, Schema], needed: Sequence[str]) -> Schema:
    rules = obj(
        "A right answer, with its rules.",
        {
            "calls": ref("calls"),
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
    both: Json = {"type": "object", "required": ["calls", "any_of"]}
    return rules | any_key(*needed) | {"not": both}


def _call() -> Schema:
    """A tool's name is a key that only the case knows; the words beside it are reserved."""
    beside = {
        "args": choice("`open`: optional arguments that are not named are free.", "open"),
        "returns": anything("What the call gives back to the model."),
        "returns_each": array("What the calls give back, one result a call, in order.", {}),
        "raises": string("The error that the call gives back to the model."),
        "result": {"description": "What the call must give when it is carried out.", **ref("value")},
        "times": by_type(
            "How often: a number, or the fewest and the most (`null`: no upper bound). Else once.",
            {"type": "integer", "minimum": 1},
            {"type": "array", "items": {"type": ["integer", "null"]}, "minItems": 2, "maxItems": 2},
            {"type": "string", "pattern": FILLED},
        ),
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

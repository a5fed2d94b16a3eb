"""The ground truth of a case, and the Expectation that it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_fcall.core.expectation import Expectation, ExpectedCall
from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_lines import BrokenRow

OMITTABLE: Final = ""
"""The alternative by which the leaderboard says that an argument may be left out."""


@dataclass(frozen=True, slots=True)
class TrueCall:
    """One call of a ground truth: for each argument a list of alternatives."""

    name: str
    arguments: Mapping[str, Json]


def true_calls(truth: Sequence[Mapping[str, Json]]) -> list[TrueCall]:
    """Take the calls out of a ground truth; BrokenRow where one is none."""
    calls = []
    for item in truth:
        for name, arguments in item.items():
            if not isinstance(arguments, Mapping):
                raise BrokenRow(f"the ground truth has no object of arguments for {name!r}")
            calls.append(TrueCall(name, arguments))
    return calls


def expectation_of(category: str, functions: Sequence[Mapping[str, Json]], calls: Sequence[TrueCall]) -> Expectation:
    """Give what a right answer is.

    A list of alternatives becomes `$any`, the mark for leaving out `$optional`, and objects hold alternatives for
    each of their keys. No order of calls is asked for.
    """
    if "irrelevance" in category:
        return Expectation(kind="no_call")
    if "relevance" in category:
        return Expectation(kind="any_call")
    offered = {name: _parameters(function) for function in functions if isinstance(name := function.get("name"), str)}
    return Expectation(stages=(tuple(_expected(call, *offered.get(call.name, ((), ()))) for call in calls),))


def _expected(call: TrueCall, known: Sequence[str], required: Sequence[str]) -> ExpectedCall:
    """One call, as far as tool and truth agree.

    An argument of which the tool knows nothing may be left out, and one that it needs may be anything where the
    truth does not speak of it.
    """
    patterns = {
        key: _choice(options, omittable=key not in known, needed=key in required)
        for key, options in call.arguments.items()
    }
    unnamed = {key: Operator("ignore", True) for key in required if key not in patterns}
    return ExpectedCall(call.name, {**patterns, **unnamed})


def _parameters(function: Mapping[str, Json]) -> tuple[Sequence[str], Sequence[str]]:
    """The names of the parameters, and those of them that are required."""
    parameters = function.get("parameters")
    if not isinstance(parameters, Mapping):
        return (), ()
    properties, required = parameters.get("properties"), parameters.get("required")
    return (
        list(properties) if isinstance(properties, Mapping) else (),
        [name for name in required if isinstance(name, str)] if isinstance(required, list) else (),
    )


def _choice(options: Json, *, omittable: bool = False, needed: bool = False, flat: bool = False) -> Pattern:
    """One argument or key. The empty text, where a value is needed, is a value like others."""
    if not isinstance(options, list) or not options:
        return Operator("literal", options)  # a value, written without its list of alternatives
    optional = omittable or (OMITTABLE in options and not needed)
    values = [option for option in options if not (optional and option == OMITTABLE)]
    patterns = values if flat else [_value(value) for value in values]
    chosen = patterns[0] if len(patterns) == 1 else Operator("any", patterns)
    return Operator("optional", chosen) if optional else chosen


def _value(option: Json) -> Pattern:
    """One alternative. Objects, and objects in a list, hold alternatives by key; below that all is plain."""
    if isinstance(option, Mapping):
        return {key: _choice(options, flat=True) for key, options in option.items()}
    if isinstance(option, list) and any(isinstance(item, Mapping) for item in option):
        return [_value(item) if isinstance(item, Mapping) else item for item in option]
    return option

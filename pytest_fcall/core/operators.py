"""Operators in expected values, and the table of the built-in ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias


@dataclass(frozen=True, slots=True)
class Operator:
    """`{$name: operand, option: …}` of a case file."""

    name: str
    """Without the dollar sign."""
    operand: Pattern = None
    options: Mapping[str, Pattern] = field(default_factory=dict)


Pattern: TypeAlias = "bool | int | float | str | Sequence[Pattern] | Mapping[str, Pattern] | Operator | None"
"""An expected value. Without an Operator in it, the value itself is expected."""


OperandKind: TypeAlias = Literal[
    "pattern",  # any expected value, operators included
    "patterns",  # a list of expected values, not empty
    "list",  # a list of expected values
    "container",  # a mapping or a list of expected values
    "value",  # a plain value, in which `$` has no meaning
    "true",
    "string",
    "regex",
    "strings",  # how strings compare: exact, relaxed, bfcl
    "number",
    "tolerance",  # a number, or a percentage such as `10%`
    "range",  # [low, high], two numbers
    "day",  # today, tomorrow, yesterday, a weekday (the next such day), +3d, -2w, or an ISO date
    "moment",  # an ISO date and time, or {day, from, to} with times as HH:MM
    "count",  # an integer from 1 to MOST_VOTES
    "types",  # a JSON Schema type name, or a list of them
    "share",  # a number from 0 to 1
    "digits",  # the number of decimal places after rounding
    "within_text",  # `text`: somewhere in a longer text
    "any_order",  # `any_order`
    "like",  # a text, for operators that need the libraries of the extra `text`
    "reference",  # a path into an earlier call, such as found.result[0].id
]

MOST_VOTES: Final = 25
"""The most times that a judge is asked the same question. More votes would cost more and change little."""

MOST_DIGITS: Final = 15
"""The most decimal places: as many as a floating-point number distinguishes."""


class OperatorSpec(NamedTuple):
    """The operand and the options of an operator."""

    operand: OperandKind
    meaning: str
    options: Mapping[str, OperandKind] = MappingProxyType({})


OPERATORS: Mapping[str, OperatorSpec] = MappingProxyType(
    {
        "any": OperatorSpec("patterns", "at least one of these matches"),
        "all": OperatorSpec("patterns", "all of these match"),
        "not": OperatorSpec("pattern", "a value is given and this does not match it"),
        "optional": OperatorSpec("pattern", "may be left out; if given, this matches it"),
        "ignore": OperatorSpec("true", "anything, or nothing"),
        "regex": OperatorSpec("regex", "a string that the regular expression matches from end to end"),
        "contains": OperatorSpec("pattern", "a string with this text in it, or a list with an item that matches this"),
        "text": OperatorSpec("string", "the same to a reader, or as `strings` says", {"strings": "strings"}),
        "number": OperatorSpec("number", "a text in which this number is said", {"within": "tolerance"}),
        "normalised": OperatorSpec("string", "the same text but for case, punctuation, articles and spaces"),
        "rouge": OperatorSpec("like", "a text like this one, by ROUGE-L", {"least": "share"}),
        "approx": OperatorSpec("number", "a number close to this one", {"within": "tolerance", "round": "digits"}),
        "gt": OperatorSpec("number", "a greater number"),
        "ge": OperatorSpec("number", "this number or a greater one"),
        "lt": OperatorSpec("number", "a smaller number"),
        "le": OperatorSpec("number", "this number or a smaller one"),
        "between": OperatorSpec("range", "a number from low to high, both included"),
        "date": OperatorSpec("day", "a string that names this day, in any unambiguous spelling"),
        "datetime": OperatorSpec("moment", "a string that names this moment, or one within the span"),
        "type": OperatorSpec("types", "a value of this JSON Schema type"),
        "structure": OperatorSpec("pattern", "the same types, keys and lengths of lists, whatever the values"),
        "subset": OperatorSpec("container", "holds at least these keys or items; more are free"),
        "unordered": OperatorSpec("list", "a list of just these items, in any order"),
        "ordered": OperatorSpec("list", "a list of just these items, in this order"),
        "each": OperatorSpec("pattern", "a list every item of which matches this"),
        "json": OperatorSpec(
            "pattern",
            "a string of JSON that says this",
            {"in": "within_text", "lists": "any_order", "round": "digits"},
        ),
        "from": OperatorSpec("reference", "equal to what an earlier call was given or returned"),
        "judge": OperatorSpec("string", "a model decides whether this is true of the value", {"votes": "count"}),
        "literal": OperatorSpec("value", "exactly this value, dollar signs and all"),
    }
)


_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""The types of most of what a case expects, in which there is no operator."""


class Undecided(Exception):
    """A comparison has no result: whether the value matches is unknown. The message is a clause without a full stop."""


def pattern_operators(pattern: Pattern) -> Iterator[Operator]:
    """Give every operator in a pattern, at any depth, except those in `$literal`."""
    waiting: list[Pattern] = [pattern]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Operator):
            yield each
            inner: Iterable[Pattern] = () if each.name == "literal" else (each.operand, *each.options.values())
        elif isinstance(each, (dict, Mapping)):
            inner = each.values()
        else:
            inner = each if isinstance(each, (list, tuple)) else ()
        waiting += [item for item in inner if type(item) not in _PLAIN]

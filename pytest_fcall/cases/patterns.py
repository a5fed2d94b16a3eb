"""Expected values: JSON values and operators with their operands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from sys import intern
from types import MappingProxyType
from typing import get_args

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import one_of, quote
from pytest_fcall.cases.node_values import Entries
from pytest_fcall.cases.scope import Scope, check_library
from pytest_fcall.cases.yaml.values import BOOL, STR
from pytest_fcall.core.bounded_text import compiled_expression
from pytest_fcall.core.expectation import Strings
from pytest_fcall.core.message_text import did_you_mean
from pytest_fcall.core.operators import MOST_DIGITS, MOST_VOTES, OPERATORS, OperandKind, Operator, OperatorSpec, Pattern
from pytest_fcall.core.values import Json

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
DAYS = ("today", "tomorrow", "yesterday")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_SHIFT = re.compile(r"[+-][0-9]{1,6}[dw]")
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2})?")
_PERCENT = re.compile(r"[0-9]+(\.[0-9]+)?\s*%")
_REFERENCE = re.compile(r"(?P<name>[^\W\d]\w*)\.(?:result|args)(?:\.[^\W\d][\w-]*|\[[0-9]+\])*")


def pattern(node: Node, scope: Scope) -> Pattern:
    """Any expected value."""
    if isinstance(node, ScalarNode):
        return node_values.scalar(node, scope.faults)
    if isinstance(node, SequenceNode):
        return [pattern(item, scope) for item in node_values.items(node, scope.faults, "this")]
    found = node_values.entries(node, scope.faults, "this")
    if any(name.startswith("$") for name in found):
        return _operator(found, scope)
    return {name: pattern(pair[1], scope) for name, pair in found.items()}


def patterns(node: Node, scope: Scope, what: str) -> dict[str, Pattern]:
    """A mapping of names to expected values, such as the arguments of a call. An operator as a name is a fault."""
    found = node_values.entries(node, scope.faults, what)
    for name, (key, _) in found.items():
        if name.startswith("$"):
            message = f"operators are not allowed as names of {what}: {quote(name)}"
            scope.faults.add("bad-operator", key, message, "put the operator behind a name")
    # The cases of a file name the same arguments: one text for all takes a twentieth less memory.
    return {intern(name): pattern(pair[1], scope) for name, pair in found.items()}


_UNREADABLE = Operator("ignore", True)
"""Stands for an operator that is a fault, so that its place is not checked further."""


def _operator(found: Entries, scope: Scope) -> Operator:
    first, *others = [name for name in found if name.startswith("$")]
    key, operand = found[first]
    if others:
        message = f"only one operator per mapping: found {quote(first)} and {quote(others[0])}"
        scope.faults.add("bad-operator", found.key(others[0]), message, "put each into a mapping of its own, in `$all`")
        return _UNREADABLE
    name = first[1:]
    rest = {option: pair for option, pair in found.items() if option != first}
    if name in OPERATORS:
        spec = OPERATORS[name]
        return Operator(name, _OPERANDS[spec.operand](operand, scope), _options(first, spec, rest, scope))
    if name in scope.extensions.comparators:
        options = {option: pattern(pair[1], scope) for option, pair in rest.items()}
        return Operator(name, pattern(operand, scope), options)
    known = [f"${known}" for known in (*OPERATORS, *scope.extensions.comparators)]
    hint = did_you_mean(first, known) or "a plain value with dollar keys goes into `$literal:`"
    scope.faults.add("unknown-operator", key, f"there is no operator {quote(first)}", hint)
    return _UNREADABLE


def _options(name: str, spec: OperatorSpec, rest: Mapping[str, tuple[Node, Node]], scope: Scope) -> dict[str, Pattern]:
    options: dict[str, Pattern] = {}
    for option, (key, value) in rest.items():
        if option in spec.options:
            options[option] = _OPERANDS[spec.options[option]](value, scope)
        else:
            available = f"its options are: {', '.join(spec.options)}" if spec.options else "it has no options"
            hint = did_you_mean(option, spec.options) or available
            scope.faults.add("bad-operator", key, f"{quote(name)} has no option {quote(option)}", hint)
    return options


def _value(node: Node, scope: Scope) -> Json:
    return node_values.value(node, scope.faults)


def _true(node: Node, scope: Scope) -> Json:
    if node.tag != BOOL or node.value.lower() != "true":
        scope.faults.add("bad-operand", node, "the operand must be `true`", "or leave the operator out")
    return True


def _string(node: Node, scope: Scope) -> Json:
    return node_values.text(node, scope.faults, "the operand")


def _regex(node: Node, scope: Scope) -> Json:
    text = node_values.text(node, scope.faults, "a regular expression")
    try:
        compiled_expression(text)
    except ValueError as error:
        scope.faults.add("bad-operand", node, f"{quote(text)} {error}")
    return text


def _strings(node: Node, scope: Scope) -> Json:
    words: tuple[Strings, ...] = get_args(Strings)
    return node_values.choice(node, scope.faults, "`strings`", words, "exact")


def _number(node: Node, scope: Scope) -> Json:
    if isinstance(node, MappingNode) and [key.value for key, _ in node.value] == ["$from"]:
        message = "the operand must be a number; `$from` is not replaced by the result of an earlier call here"
        scope.faults.add("bad-operand", node, message, "use `$from` alone, for a value that equals it")
        return 0
    return node_values.number(node, scope.faults, "the operand")


def _tolerance(node: Node, scope: Scope) -> Json:
    if isinstance(node, ScalarNode) and _PERCENT.fullmatch(node.value):
        return str(node.value)
    if node.tag == STR:
        scope.faults.add("bad-operand", node, f"{quote(node.value)} is not a tolerance", "a number, or such as 10%")
        return 0
    return node_values.not_negative(node, scope.faults, "a tolerance", code="bad-operand")


def _share(node: Node, scope: Scope) -> Json:
    return node_values.share(node, scope.faults, "the operand", code="bad-operand")


def _digits(node: Node, scope: Scope) -> Json:
    return node_values.integer(node, scope.faults, "the number of digits", 0, MOST_DIGITS, code="bad-operand")


def _count(node: Node, scope: Scope) -> Json:
    return node_values.integer(node, scope.faults, "the number of `votes`", 1, MOST_VOTES, code="bad-operand")


def _within_text(node: Node, scope: Scope) -> Json:
    return node_values.choice(node, scope.faults, "`in`", ("text",), "text")


def _any_order(node: Node, scope: Scope) -> Json:
    return node_values.choice(node, scope.faults, "`lists`", ("any_order",), "any_order")


def _like(node: Node, scope: Scope) -> Json:
    check_library(node, "`$rouge`", "rouge_score", "text", scope.faults)
    return _string(node, scope)


def _range(node: Node, scope: Scope) -> Json:
    ends = node_values.items(node, scope.faults, "the operand")
    numbers = [node_values.number(end, scope.faults, "each end of a range") for end in ends]
    if isinstance(node, SequenceNode) and len(ends) != 2:
        scope.faults.add("bad-operand", node, "a range is `[low, high]`")
    elif len(ends) == 2 and numbers[0] > numbers[1]:
        scope.faults.add("bad-operand", node, "the low end of the range is above the high end")
    return list(numbers)


def _day(node: Node, scope: Scope) -> str:
    text = node_values.word(node, scope.faults, "a day")
    day = text.lower()
    relative = day in DAYS or day in WEEKDAYS or _SHIFT.fullmatch(day)
    if not relative and not (_ISO_DAY.fullmatch(day) and _parses(date.fromisoformat, day)):
        hint = did_you_mean(day, (*DAYS, *WEEKDAYS)) or "today, tomorrow, a weekday, +3d, -2w, or 2026-11-21"
        _not_a(text, "day", hint, node, scope)
    return day


def _moment(node: Node, scope: Scope) -> Json:
    if isinstance(node, MappingNode):
        return _span(node, scope)
    text = node_values.word(node, scope.faults, "a moment")
    if len(text) <= 10 or not _parses(datetime.fromisoformat, text):
        hint = "such as 2026-11-21T16:30:00+01:00, or {day: tomorrow, from: 12:00, to: 17:00}"
        _not_a(text, "moment", hint, node, scope)
    return text


def _span(node: Node, scope: Scope) -> Json:
    found = node_values.entries(node, scope.faults, "a span", ("day", "from", "to"))
    span: dict[str, Json] = {}
    if "day" in found:
        span["day"] = _day(found["day"][1], scope)
    else:
        scope.faults.add("bad-operand", node, "a span needs a `day`", "such as {day: tomorrow, from: 12:00, to: 17:00}")
    for end in ("from", "to"):
        if end in found:
            span[end] = _clock_time(found[end][1], scope)
    if "from" in span and "to" in span and str(span["from"]) > str(span["to"]):
        scope.faults.add("bad-operand", node, "the span ends before it begins")
    return span


def _clock_time(node: Node, scope: Scope) -> str:
    text = node_values.word(node, scope.faults, "a time")
    if not (_TIME.fullmatch(text) and _parses(time.fromisoformat, text)):
        _not_a(text, "time", "such as 09:30", node, scope)
    return text


def _not_a(text: str, what: str, hint: str, node: Node, scope: Scope) -> None:
    """Add the fault that a string cannot be read; that an empty one is wrong has been added before."""
    if text:
        scope.faults.add("bad-operand", node, f"{quote(text)} is not a {what}", hint)


def _parses(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except (ValueError, OverflowError):
        return False
    return True


def _types(node: Node, scope: Scope) -> Json:
    if not isinstance(node, SequenceNode):
        return _type(node, scope)
    names = [_type(item, scope) for item in node_values.items(node, scope.faults, "the operand")]
    if not names:
        scope.faults.add("bad-operand", node, "the list of types is empty", one_of(TYPES))
    return list(names)


def _type(node: Node, scope: Scope) -> str:
    if isinstance(node, ScalarNode) and node.value == "null":
        return "null"
    return node_values.choice(node, scope.faults, "a type", TYPES, "null")


def _reference(node: Node, scope: Scope) -> Json:
    text = node_values.word(node, scope.faults, "a reference")
    found = _REFERENCE.fullmatch(text)
    if found is None:
        _not_a(text, "reference", "such as found.result[0].id or first.args.city", node, scope)
    elif (name := found["name"]) not in scope.known_calls:
        hint = did_you_mean(name, scope.known_calls)
        hint = hint or f"write `as: {name}` beside that call, and put this one into a later `then:`"
        scope.faults.add("unknown-reference", node, f"no earlier call is named {quote(name)}", hint)
    return text


def _patterns(node: Node, scope: Scope) -> Pattern:
    found = _list(node, scope)
    if isinstance(node, SequenceNode) and not found:
        scope.faults.add("bad-operand", node, "the list is empty: nothing could match")
    return found


def _list(node: Node, scope: Scope) -> Pattern:
    return [pattern(item, scope) for item in node_values.items(node, scope.faults, "the operand")]


def _container(node: Node, scope: Scope) -> Pattern:
    operand = pattern(node, scope)
    if isinstance(operand, Operator) or not isinstance(node, MappingNode | SequenceNode):
        scope.faults.add("bad-operand", node, "the operand must be a mapping or a list of expected values")
    return operand


_OPERANDS: Mapping[OperandKind, Callable[[Node, Scope], Pattern]] = MappingProxyType(
    {
        "pattern": pattern,
        "patterns": _patterns,
        "list": _list,
        "container": _container,
        "value": _value,
        "true": _true,
        "string": _string,
        "regex": _regex,
        "strings": _strings,
        "number": _number,
        "tolerance": _tolerance,
        "range": _range,
        "day": _day,
        "moment": _moment,
        "count": _count,
        "types": _types,
        "share": _share,
        "digits": _digits,
        "within_text": _within_text,
        "any_order": _any_order,
        "like": _like,
        "reference": _reference,
    }
)

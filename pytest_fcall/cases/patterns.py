"""Expected values: plain values with operators and their operands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from importlib.util import find_spec
from types import MappingProxyType
from typing import get_args

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import did_you_mean, one_of, shown
from pytest_fcall.cases.node_values import Entries
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.yaml.tags import BOOL
from pytest_fcall.core import OPERATORS, Json, OperandKind, Operator, OperatorSpec, Pattern, Strings
from pytest_fcall.core.operators import MOST_DIGITS, MOST_VOTES

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
DAYS = ("today", "tomorrow", "yesterday")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_SHIFT = re.compile(r"[+-][0-9]{1,6}[dw]")
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2})?")
_PERCENT = re.compile(r"[0-9]+(\.[0-9]+)?\s*%")
_REFERENCE = re.compile(r"(?P<name>[^\W\d]\w*)\.(?:result|args)(?:\.[^\W\d][\w-]*|\[[0-9]+\])*")
_LONGEST_REGEX = 10_000


def _value(node: Node, scope: Scope) -> Json:
    return node_values.value(node, scope.faults)


def _true(node: Node, scope: Scope) -> Json:
    if node.tag != BOOL or node.value.lower() != "true":
        scope.faults.add("bad-operand", node, "only `true` may stand here", "else leave the operator out")
    return True


def _string(node: Node, scope: Scope) -> Json:
    return node_values.text(node, scope.faults, "the operand")


def _regex(node: Node, scope: Scope) -> Json:
    written = node_values.text(node, scope.faults, "a regular expression")
    if len(written) > _LONGEST_REGEX:
        scope.faults.add("bad-operand", node, "this regular expression is too long")
        return written
    import regex

    try:
        regex.compile(written)
    except Exception as error:  # its parser raises more than its own error
        scope.faults.add("bad-operand", node, f"{shown(written)} is no regular expression: {error}")
    return written


def _strings(node: Node, scope: Scope) -> Json:
    return node_values.choice(node, scope.faults, "`strings`", get_args(Strings))


def _number(node: Node, scope: Scope) -> Json:
    if isinstance(node, MappingNode) and [key.value for key, _ in node.value] == ["$from"]:
        message = "the operand must be a number that stands here: what an earlier call gave is not put in its place"
        scope.faults.add("bad-operand", node, message, "`$from` may stand alone, for a value that equals it")
        return 0
    return node_values.number(node, scope.faults, "the operand")


def _tolerance(node: Node, scope: Scope) -> Json:
    if isinstance(node, ScalarNode) and _PERCENT.fullmatch(node.value):
        return str(node.value)
    if node_values.describe(node) == "a text":
        scope.faults.add("bad-operand", node, f"{shown(node.value)} is no tolerance", "a number, or such as 10%")
        return 0
    result = node_values.number(node, scope.faults, "a tolerance")
    if result < 0:
        scope.faults.add("bad-operand", node, "a tolerance may not be below zero")
    return result


def _share(node: Node, scope: Scope) -> Json:
    result = node_values.number(node, scope.faults, "the share")
    if not 0 <= result <= 1:
        scope.faults.add("bad-operand", node, "a share is a number from 0 to 1", "such as 0.5")
    return result


def _digits(node: Node, scope: Scope) -> Json:
    digits = node_values.integer(node, scope.faults, "the number of digits", least=0)
    if digits > MOST_DIGITS:
        scope.faults.add("bad-operand", node, f"there may be {MOST_DIGITS} digits at most")
    return digits


def _within_text(node: Node, scope: Scope) -> Json:
    return node_values.choice(node, scope.faults, "`in`", ("text",))


def _any_order(node: Node, scope: Scope) -> Json:
    return node_values.choice(node, scope.faults, "`lists`", ("any_order",))


def _like(node: Node, scope: Scope) -> Json:
    if find_spec("rouge_score") is None:
        message = "`$rouge` needs the library rouge-score, which is not installed"
        scope.faults.add("not-installed", node, message, "pip install 'pytest-fcall[text]'")
    return _string(node, scope)


def _range(node: Node, scope: Scope) -> Json:
    ends = node_values.items(node, scope.faults, "the operand")
    numbers = [node_values.number(end, scope.faults, "each end of a range") for end in ends]
    if isinstance(node, SequenceNode) and len(ends) != 2:
        scope.faults.add("bad-operand", node, "a range is `[low, high]`")
    elif len(ends) == 2 and numbers[0] > numbers[1]:
        scope.faults.add("bad-operand", node, "the low end of this range is above the high one")
    return list(numbers)


def _day(node: Node, scope: Scope) -> Json:
    written = node_values.word(node, scope.faults, "a day")
    day = written.lower()
    relative = day in DAYS or day in WEEKDAYS or _SHIFT.fullmatch(day)
    if written and not relative and not (_ISO_DAY.fullmatch(day) and _reads(date.fromisoformat, day)):
        hint = did_you_mean(day, (*DAYS, *WEEKDAYS)) or "today, tomorrow, a weekday, +3d, -2w, or 2026-11-21"
        scope.faults.add("bad-operand", node, f"{shown(written)} is no day", hint)
    return day


def _moment(node: Node, scope: Scope) -> Json:
    if isinstance(node, MappingNode):
        return _span(node, scope)
    written = node_values.word(node, scope.faults, "a moment")
    if written and not (len(written) > 10 and _reads(datetime.fromisoformat, written)):
        hint = "such as 2026-11-21T16:30:00+01:00, or {day: tomorrow, from: 12:00, to: 17:00}"
        scope.faults.add("bad-operand", node, f"{shown(written)} is no moment", hint)
    return written


def _span(node: Node, scope: Scope) -> Json:
    found = node_values.entries(node, scope.faults, "a span")
    node_values.known_only(found, ("day", "from", "to"), scope.faults, "a span")
    span: dict[str, Json] = {}
    if "day" in found:
        span["day"] = _day(found["day"][1], scope)
    else:
        scope.faults.add("bad-operand", node, "a span needs a `day`", "such as {day: tomorrow, from: 12:00, to: 17:00}")
    for end in ("from", "to"):
        if end in found:
            span[end] = _clock_time(found[end][1], scope)
    if "from" in span and "to" in span and str(span["from"]) > str(span["to"]):
        scope.faults.add("bad-operand", node, "this span ends before it begins")
    return span


def _clock_time(node: Node, scope: Scope) -> str:
    written = node_values.word(node, scope.faults, "a time")
    if written and not (_TIME.fullmatch(written) and _reads(time.fromisoformat, written)):
        scope.faults.add("bad-operand", node, f"{shown(written)} is no time", "such as 09:30")
    return written


def _count(node: Node, scope: Scope) -> Json:
    count = node_values.integer(node, scope.faults, "the number of `votes`", least=1)
    if count > MOST_VOTES:
        scope.faults.add("bad-operand", node, f"there may be {MOST_VOTES} votes at most")
    return count


def _types(node: Node, scope: Scope) -> Json:
    if not isinstance(node, SequenceNode):
        return _type(node, scope)
    names = [_type(item, scope) for item in node_values.items(node, scope.faults, "the operand")]
    if not names:
        scope.faults.add("bad-operand", node, "this list of types is empty", one_of(TYPES))
    return list(names)


def _type(node: Node, scope: Scope) -> str:
    if isinstance(node, ScalarNode) and node.value == "null":
        return "null"
    return node_values.choice(node, scope.faults, "a type", TYPES)


def _reference(node: Node, scope: Scope) -> Json:
    written = node_values.word(node, scope.faults, "a reference")
    found = _REFERENCE.fullmatch(written)
    if found is None:
        if written:
            hint = "such as found.result[0].id or first.args.city"
            scope.faults.add("bad-operand", node, f"{shown(written)} is no reference", hint)
    elif found["name"] not in scope.names:
        message = f"no earlier call is named {shown(found['name'])}"
        hint = did_you_mean(found["name"], scope.names)
        hint = hint or f"write `as: {found['name']}` beside that call, and put this one into a later `then:`"
        scope.faults.add("unknown-reference", node, message, hint)
    return written


def _reads(parse: Callable[[str], object], written: str) -> bool:
    try:
        parse(written)
    except (ValueError, OverflowError):
        return False
    return True


PLAIN_OPERANDS: Mapping[OperandKind, Callable[[Node, Scope], Json]] = MappingProxyType(
    {
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


def pattern(node: Node, scope: Scope) -> Pattern:
    """Any expected value."""
    if isinstance(node, ScalarNode):
        return node_values.scalar(node, scope.faults)
    if isinstance(node, SequenceNode):
        return [pattern(item, scope) for item in node_values.items(node, scope.faults, "this")]
    found = node_values.entries(node, scope.faults, "this")
    if is_operator(found):
        return _operator(found, scope)
    return {name: pattern(pair[1], scope) for name, pair in found.items()}


def is_operator(found: Entries) -> bool:
    """Whether a mapping is meant as an operator."""
    return any(name.startswith("$") for name in found)


def patterns(node: Node, scope: Scope, what: str) -> dict[str, Pattern]:
    """A mapping of names that are no operators to expected values, such as the arguments of a call."""
    found = node_values.entries(node, scope.faults, what)
    for name, (key, _) in found.items():
        if name.startswith("$"):
            message = f"{shown(name)} may not stand for {what}"
            scope.faults.add("bad-operator", key, message, "an operator goes behind a name")
    return {name: pattern(pair[1], scope) for name, pair in found.items()}


def _operator(found: Entries, scope: Scope) -> Operator | None:
    first, *others = [name for name in found if name.startswith("$")]
    key, operand = found[first]
    if others:
        message = f"{shown(first)} and {shown(others[0])} may not stand in one mapping"
        hint = "put each into a mapping of its own, under `$all`"
        scope.faults.add("bad-operator", found[others[0]][0], message, hint)
        return None
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
    scope.faults.add("unknown-operator", key, f"there is no operator {shown(first)}", hint)
    return None


def _options(name: str, spec: OperatorSpec, rest: Entries, scope: Scope) -> dict[str, Pattern]:
    options: dict[str, Pattern] = {}
    for option, (key, value) in rest.items():
        if option in spec.options:
            options[option] = _OPERANDS[spec.options[option]](value, scope)
        else:
            hint = did_you_mean(option, spec.options) or f"beside it may stand: {', '.join(spec.options) or 'nothing'}"
            scope.faults.add("bad-operator", key, f"{shown(name)} has no option {shown(option)}", hint)
    return options


def _patterns(node: Node, scope: Scope) -> Pattern:
    found = node_values.items(node, scope.faults, "the operand")
    if isinstance(node, SequenceNode) and not found:
        scope.faults.add("bad-operand", node, "this list is empty, so that nothing matches")
    return [pattern(item, scope) for item in found]


def _list(node: Node, scope: Scope) -> Pattern:
    return [pattern(item, scope) for item in node_values.items(node, scope.faults, "the operand")]


def _container(node: Node, scope: Scope) -> Pattern:
    operand = pattern(node, scope)
    if isinstance(operand, Operator) or not isinstance(node, MappingNode | SequenceNode):
        scope.faults.add("bad-operand", node, "the operand must be a mapping or a list of expected values")
    return operand


_OPERANDS: Mapping[OperandKind, Callable[[Node, Scope], Pattern]] = MappingProxyType(
    {"pattern": pattern, "patterns": _patterns, "list": _list, "container": _container, **PLAIN_OPERANDS}
)

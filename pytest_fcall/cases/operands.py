"""What stands behind an operator, kind by kind, where no further expected value may stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from importlib.util import find_spec
from types import MappingProxyType
from typing import get_args

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import fields
from pytest_fcall.cases.faults import did_you_mean, one_of, shown
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.yaml.tags import BOOL
from pytest_fcall.core import Json, OperandKind, Strings
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
    return fields.value(node, scope.faults)


def _true(node: Node, scope: Scope) -> Json:
    if node.tag != BOOL or node.value.lower() != "true":
        scope.faults.add("bad-operand", node, "only `true` may stand here", "else leave the operator out")
    return True


def _string(node: Node, scope: Scope) -> Json:
    return fields.text(node, scope.faults, "the operand")


def _regex(node: Node, scope: Scope) -> Json:
    written = fields.text(node, scope.faults, "a regular expression")
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
    return fields.choice(node, scope.faults, "`strings`", get_args(Strings))


def _number(node: Node, scope: Scope) -> Json:
    if isinstance(node, MappingNode) and [key.value for key, _ in node.value] == ["$from"]:
        message = "the operand must be a number that stands here: what an earlier call gave is not put in its place"
        scope.faults.add("bad-operand", node, message, "`$from` may stand alone, for a value that equals it")
        return 0
    return fields.number(node, scope.faults, "the operand")


def _tolerance(node: Node, scope: Scope) -> Json:
    if isinstance(node, ScalarNode) and _PERCENT.fullmatch(node.value):
        return str(node.value)
    if fields.describe(node) == "a text":
        scope.faults.add("bad-operand", node, f"{shown(node.value)} is no tolerance", "a number, or such as 10%")
        return 0
    result = fields.number(node, scope.faults, "a tolerance")
    if result < 0:
        scope.faults.add("bad-operand", node, "a tolerance may not be below zero")
    return result


def _share(node: Node, scope: Scope) -> Json:
    result = fields.number(node, scope.faults, "the share")
    if not 0 <= result <= 1:
        scope.faults.add("bad-operand", node, "a share is a number from 0 to 1", "such as 0.5")
    return result


def _digits(node: Node, scope: Scope) -> Json:
    digits = fields.integer(node, scope.faults, "the number of digits", least=0)
    if digits > MOST_DIGITS:
        scope.faults.add("bad-operand", node, f"there may be {MOST_DIGITS} digits at most")
    return digits


def _within_text(node: Node, scope: Scope) -> Json:
    return fields.choice(node, scope.faults, "`in`", ("text",))


def _any_order(node: Node, scope: Scope) -> Json:
    return fields.choice(node, scope.faults, "`lists`", ("any_order",))


def _like(node: Node, scope: Scope) -> Json:
    if find_spec("rouge_score") is None:
        message = "`$rouge` needs the library rouge-score, which is not installed"
        scope.faults.add("not-installed", node, message, "pip install 'pytest-fcall[text]'")
    return _string(node, scope)


def _range(node: Node, scope: Scope) -> Json:
    ends = fields.items(node, scope.faults, "the operand")
    numbers = [fields.number(end, scope.faults, "each end of a range") for end in ends]
    if isinstance(node, SequenceNode) and len(ends) != 2:
        scope.faults.add("bad-operand", node, "a range is `[low, high]`")
    elif len(ends) == 2 and numbers[0] > numbers[1]:
        scope.faults.add("bad-operand", node, "the low end of this range is above the high one")
    return list(numbers)


def _day(node: Node, scope: Scope) -> Json:
    written = fields.word(node, scope.faults, "a day")
    day = written.lower()
    relative = day in DAYS or day in WEEKDAYS or _SHIFT.fullmatch(day)
    if written and not relative and not (_ISO_DAY.fullmatch(day) and _reads(date.fromisoformat, day)):
        hint = did_you_mean(day, (*DAYS, *WEEKDAYS)) or "today, tomorrow, a weekday, +3d, -2w, or 2026-11-21"
        scope.faults.add("bad-operand", node, f"{shown(written)} is no day", hint)
    return day


def _moment(node: Node, scope: Scope) -> Json:
    if isinstance(node, MappingNode):
        return _span(node, scope)
    written = fields.word(node, scope.faults, "a moment")
    if written and not (len(written) > 10 and _reads(datetime.fromisoformat, written)):
        hint = "such as 2026-11-21T16:30:00+01:00, or {day: tomorrow, from: 12:00, to: 17:00}"
        scope.faults.add("bad-operand", node, f"{shown(written)} is no moment", hint)
    return written


def _span(node: Node, scope: Scope) -> Json:
    found = fields.entries(node, scope.faults, "a span")
    fields.known_only(found, ("day", "from", "to"), scope.faults, "a span")
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
    written = fields.word(node, scope.faults, "a time")
    if written and not (_TIME.fullmatch(written) and _reads(time.fromisoformat, written)):
        scope.faults.add("bad-operand", node, f"{shown(written)} is no time", "such as 09:30")
    return written


def _count(node: Node, scope: Scope) -> Json:
    count = fields.integer(node, scope.faults, "the number of `votes`", least=1)
    if count > MOST_VOTES:
        scope.faults.add("bad-operand", node, f"there may be {MOST_VOTES} votes at most")
    return count


def _types(node: Node, scope: Scope) -> Json:
    if not isinstance(node, SequenceNode):
        return _type(node, scope)
    names = [_type(item, scope) for item in fields.items(node, scope.faults, "the operand")]
    if not names:
        scope.faults.add("bad-operand", node, "this list of types is empty", one_of(TYPES))
    return list(names)


def _type(node: Node, scope: Scope) -> str:
    if isinstance(node, ScalarNode) and node.value == "null":
        return "null"
    return fields.choice(node, scope.faults, "a type", TYPES)


def _reference(node: Node, scope: Scope) -> Json:
    written = fields.word(node, scope.faults, "a reference")
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

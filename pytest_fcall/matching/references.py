"""`$from`: what an earlier call of a conversation was given or returned, put in its place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_fcall.core.expectation import CallPattern, Expectation, ExpectedCall
from pytest_fcall.core.following import Known
from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.core.within import operators_in
from pytest_fcall.schema.words import shown

_REFERENCE = re.compile(r"(?P<name>\w+)\.(?P<side>result|args)(?P<path>.*)", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[([0-9]{1,9})\]")


def with_known(expected: ExpectedCall, known: Known) -> ExpectedCall:
    """The expected call with every reference resolved that can be; the others say what they lack."""
    return replace(expected, arguments=_filled(expected.arguments, known)) if _refers(expected.arguments) else expected


def patterns_with_known(patterns: Sequence[CallPattern], known: Known) -> tuple[CallPattern, ...]:
    """Calls that are allowed or forbidden, likewise."""
    return tuple(
        replace(each, arguments=_filled(each.arguments, known)) if _refers(each.arguments) else each
        for each in patterns
    )


def expectation_with_known(expectation: Expectation, known: Known) -> Expectation:
    """All that is expected, allowed and forbidden, with references resolved."""
    return replace(
        expectation,
        stages=tuple(tuple(with_known(call, known) for call in stage) for stage in expectation.stages),
        allow=patterns_with_known(expectation.allow, known),
        never=patterns_with_known(expectation.never, known),
        alternatives=tuple(expectation_with_known(each, known) for each in expectation.alternatives),
    )


def filled(pattern: Pattern, known: Known) -> Pattern:
    """A pattern with references resolved, anywhere inside."""
    if not _refers(pattern):
        return pattern
    if isinstance(pattern, Operator):
        if pattern.name == "from":
            return _resolved(str(pattern.operand), known)
        return replace(pattern, operand=filled(pattern.operand, known))
    if isinstance(pattern, Mapping):
        return {name: filled(value, known) for name, value in pattern.items()}
    if isinstance(pattern, Sequence) and not isinstance(pattern, str):
        return [filled(item, known) for item in pattern]
    return pattern


def _filled(arguments: Mapping[str, Pattern] | None, known: Known) -> Mapping[str, Pattern] | None:
    return None if arguments is None else {name: filled(value, known) for name, value in arguments.items()}


def _refers(pattern: Pattern) -> bool:
    return any(operator.name == "from" for operator in operators_in(pattern))


def _resolved(reference: str, known: Known) -> Operator:
    found = _REFERENCE.fullmatch(reference)
    named = known.get(found["name"]) if found else None
    if found is None or named is None:
        return _lacking(reference, "no call of that name was made before")
    if found["side"] == "args":
        value: Json = named.arguments
    elif named.result is None:
        return _lacking(reference, f"`{found['name']}` has no result yet")
    elif named.result.error is not None:
        return _lacking(reference, f"`{found['name']}` gave an error: {named.result.error[:200]}")
    else:
        value = named.result.value
    way = f"{found['name']}.{found['side']}"
    for name, index in _STEP.findall(found["path"]):
        if name and isinstance(value, Mapping) and name in value:
            value = value[name]
        elif index and isinstance(value, list | tuple) and int(index) < len(value):
            value = value[int(index)]
        else:
            return _lacking(reference, f"`{way}` is {shown(value)} without {name or f'[{index}]'}")
        way += f".{name}" if name else f"[{index}]"
    return Operator("literal", value)


def _lacking(reference: str, why: str) -> Operator:
    return Operator("from", reference, {"lacks": why})

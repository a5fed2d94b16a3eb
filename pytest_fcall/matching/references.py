"""`$from`: references to arguments and results of earlier calls, replaced by their values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_fcall.core.conversation import NamedCalls
from pytest_fcall.core.expectation import CallPattern, Expectation, ExpectedCall
from pytest_fcall.core.message_text import shown
from pytest_fcall.core.operators import Operator, Pattern, pattern_operators
from pytest_fcall.core.values import Json

_REFERENCE = re.compile(r"(?P<name>\w+)\.(?P<side>result|args)(?P<path>.*)", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[([0-9]{1,9})\]")


def resolved_call(expected: ExpectedCall, known: NamedCalls) -> ExpectedCall:
    """The expected call with its references resolved; those that cannot be resolved carry the cause."""
    arguments = _resolved_arguments(expected.arguments, known)
    return expected if arguments is expected.arguments else replace(expected, arguments=arguments)


def resolved_call_patterns(patterns: Sequence[CallPattern], known: NamedCalls) -> tuple[CallPattern, ...]:
    """Patterns of allowed or forbidden calls with references resolved."""
    return tuple(
        each
        if (arguments := _resolved_arguments(each.arguments, known)) is each.arguments
        else replace(each, arguments=arguments)
        for each in patterns
    )


def resolved_expectation(expectation: Expectation, known: NamedCalls) -> Expectation:
    """Expected, allowed and forbidden calls with references resolved."""
    return replace(
        expectation,
        stages=tuple(tuple(resolved_call(call, known) for call in stage) for stage in expectation.stages),
        allow=resolved_call_patterns(expectation.allow, known),
        never=resolved_call_patterns(expectation.never, known),
        alternatives=tuple(resolved_expectation(each, known) for each in expectation.alternatives),
    )


def resolved_pattern(pattern: Pattern, known: NamedCalls) -> Pattern:
    """A pattern with all references inside it resolved."""
    if not _has_reference(pattern):
        return pattern
    if isinstance(pattern, Operator):
        if pattern.name == "from":
            return _resolved_reference(str(pattern.operand), known)
        return replace(pattern, operand=resolved_pattern(pattern.operand, known))
    if isinstance(pattern, Mapping):
        return {name: resolved_pattern(value, known) for name, value in pattern.items()}
    if isinstance(pattern, Sequence) and not isinstance(pattern, str):
        return [resolved_pattern(item, known) for item in pattern]
    return pattern


def _resolved_arguments(arguments: Mapping[str, Pattern] | None, known: NamedCalls) -> Mapping[str, Pattern] | None:
    """The arguments with references resolved; the same object if there are none."""
    if arguments is None or not _has_reference(arguments):
        return arguments
    return {name: resolved_pattern(value, known) for name, value in arguments.items()}


def _has_reference(pattern: Pattern) -> bool:
    return any(operator.name == "from" for operator in pattern_operators(pattern))


def _resolved_reference(reference: str, known: NamedCalls) -> Operator:
    found = _REFERENCE.fullmatch(reference)
    named = known.get(found["name"]) if found else None
    if found is None or named is None:
        return _unresolved(reference, "there is no earlier call of that name")
    if found["side"] == "args":
        value: Json = named.arguments
    elif named.result is None:
        return _unresolved(reference, f"`{found['name']}` has no result yet")
    elif named.result.error is not None:
        return _unresolved(reference, f"`{found['name']}` failed: {named.result.error[:200]}")
    else:
        value = named.result.value
    path = f"{found['name']}.{found['side']}"
    for name, index in _STEP.findall(found["path"]):
        if name and isinstance(value, Mapping) and name in value:
            value = value[name]
        elif index and isinstance(value, list | tuple) and int(index) < len(value):
            value = value[int(index)]
        else:
            return _unresolved(reference, f"`{path}` is {shown(value)} without {name or f'[{index}]'}")
        path += f".{name}" if name else f"[{index}]"
    return Operator("literal", value)


def _unresolved(reference: str, why: str) -> Operator:
    return Operator("from", reference, {"unresolved": why})

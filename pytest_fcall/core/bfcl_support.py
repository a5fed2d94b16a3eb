"""The expectations that the profile `bfcl` does not support.

The official checker has rules for plain values, alternatives and optional arguments only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_fcall.core.expectation import Expectation, ExpectedCall, Rules
from pytest_fcall.core.operators import Operator, Pattern, pattern_operators

SUPPORTED = "plain values, `$any` and `$optional`"
"""The supported values of arguments, for messages."""
SUPPORTED_IN_RESULTS = "plain values, `$structure`, and `$approx` within 20 %"
"""The supported results of calls, for messages."""
_REAL_TIME_TOLERANCE = "20%"
"""The only supported tolerance, for numbers that change with time."""


def unsupported_by_bfcl(expectation: Expectation, rules: Rules) -> Iterator[str]:
    """Name the parts of an expectation that are not supported, as a case file writes them."""
    if rules.match:
        yield "`match`"
    if expectation.never or rules.never:
        yield "`never`"
    if expectation.kind == "any_of":
        yield "`any_of`"
    if expectation.allow:
        yield "`allow`"
    if expectation.extra == "allow" and not expectation.never:  # `never` alone implies `extra: allow`
        yield "`extra: allow`"
    if expectation.order == "strict":
        yield "`order: strict`"
    if len(expectation.stages) > 1:
        yield "`then`"
    for call in expectation.calls:
        yield from _unsupported_in_call(call)


def unsupported_in_result(result: Pattern) -> Iterator[str]:
    """Name the operators in the expected result of a call that are not supported."""
    match result:
        case Operator("approx", _, {"within": str(within)}) if within.replace(" ", "") == _REAL_TIME_TOLERANCE:
            return
        case Operator("structure"):
            inner = result.operand
        case _:
            inner = result
    for operator in pattern_operators(inner):
        if operator.name != "literal":
            yield f"`${operator.name}` in `result`"


def _unsupported_in_call(call: ExpectedCall) -> Iterator[str]:
    if call.times != (1, 1):
        yield f"`times` of `{call.tool}`"
    if call.open:
        yield f"`args: open` of `{call.tool}`"
    if call.arguments is None:
        yield f"`$ignore` of `{call.tool}`"
    for name in unsupported_in_result(call.result):
        yield f"{name} of `{call.tool}`"
    for name, pattern in (call.arguments or {}).items():
        for operator in dict.fromkeys(_unsupported_operators(pattern, choice=True)):
            yield f"`${operator}` in `{name}` of `{call.tool}`"


def _unsupported_operators(pattern: Pattern, *, choice: bool, level: int = 1) -> Iterator[str]:
    """Name the operators that are not supported. `choice` says whether alternatives are supported here.

    They are for an argument, and for each key of an object that is an argument or an item of one.
    """
    match pattern:
        case Operator("literal"):
            return
        case Operator("any" | "optional") if choice:
            inner = pattern.operand
            for option in inner if pattern.name == "any" and isinstance(inner, Sequence) else [inner]:
                yield from _unsupported_operators(option, choice=True, level=level)
        case Operator():
            yield pattern.name
        case Mapping():
            for value in pattern.values():
                yield from _unsupported_operators(value, choice=choice and level > 0, level=level - 1)
        case list() | tuple():
            for item in pattern:
                yield from _unsupported_operators(item, choice=choice and isinstance(item, Mapping), level=level)

"""Expected values: plain values with operators anywhere inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import fields
from pytest_fcall.cases.faults import did_you_mean, shown
from pytest_fcall.cases.fields import Entries
from pytest_fcall.cases.operands import PLAIN_OPERANDS
from pytest_fcall.cases.scope import Scope
from pytest_fcall.core import OPERATORS, OperandKind, Operator, OperatorSpec, Pattern


def pattern(node: Node, scope: Scope) -> Pattern:
    """Any expected value."""
    if isinstance(node, ScalarNode):
        return fields.scalar(node, scope.faults)
    if isinstance(node, SequenceNode):
        return [pattern(item, scope) for item in fields.items(node, scope.faults, "this")]
    found = fields.entries(node, scope.faults, "this")
    if is_operator(found):
        return _operator(found, scope)
    return {name: pattern(pair[1], scope) for name, pair in found.items()}


def is_operator(found: Entries) -> bool:
    """Whether a mapping is meant as an operator."""
    return any(name.startswith("$") for name in found)


def patterns(node: Node, scope: Scope, what: str) -> dict[str, Pattern]:
    """A mapping of names that are no operators to expected values, such as the arguments of a call."""
    found = fields.entries(node, scope.faults, what)
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
    found = fields.items(node, scope.faults, "the operand")
    if isinstance(node, SequenceNode) and not found:
        scope.faults.add("bad-operand", node, "this list is empty, so that nothing matches")
    return [pattern(item, scope) for item in found]


def _list(node: Node, scope: Scope) -> Pattern:
    return [pattern(item, scope) for item in fields.items(node, scope.faults, "the operand")]


def _container(node: Node, scope: Scope) -> Pattern:
    operand = pattern(node, scope)
    if isinstance(operand, Operator) or not isinstance(node, MappingNode | SequenceNode):
        scope.faults.add("bad-operand", node, "the operand must be a mapping or a list of expected values")
    return operand


_OPERANDS: Mapping[OperandKind, Callable[[Node, Scope], Pattern]] = MappingProxyType(
    {"pattern": pattern, "patterns": _patterns, "list": _list, "container": _container, **PLAIN_OPERANDS}
)

"""`wire:`, what an app may ask of models on its way to an answer."""

from __future__ import annotations

from dataclasses import replace

from yaml import MappingNode, Node

from pytest_fcall.cases import fields
from pytest_fcall.cases.expectations import expectation
from pytest_fcall.cases.patterns import pattern
from pytest_fcall.cases.scope import Scope
from pytest_fcall.core import Operator, Pattern, WireExpectation

WIRE_KEYS = ("calls", "count", "tools", "models", "tokens", "cost")
_NAMES = ("tools", "models")


def wire(node: Node, scope: Scope) -> WireExpectation:
    """Calls may be of any tool of the file: what an app offers its models is its own affair."""
    found = fields.entries(node, scope.faults, "`wire`")
    fields.known_only(found, WIRE_KEYS, scope.faults, "`wire`")
    if not found and isinstance(node, MappingNode):
        scope.faults.add("missing-key", node, "this says nothing of what the app asks", "give it `calls:` or `count:`")
    inside = replace(scope, offered=frozenset(scope.toolbox.tools), names=set(), profile="strict")
    values = {name: _value(name, found[name][1], scope) for name in WIRE_KEYS[1:] if name in found}
    calls = expectation(found["calls"][1], inside) if "calls" in found else None
    return WireExpectation(calls, **values)


def _value(name: str, node: Node, scope: Scope) -> Pattern:
    value = pattern(node, scope)
    if not _can_hold(name, value):
        what, hint = ("a list of names", "{$contains: a}") if name in _NAMES else ("a number, zero or more", "{$le: 3}")
        scope.faults.add("wrong-type", node, f"`wire.{name}` must be {what}, or an operator such as `{hint}`")
    return value


def _can_hold(name: str, value: Pattern) -> bool:
    if value is None or isinstance(value, Operator):
        return True
    if name in _NAMES:
        return isinstance(value, list) and all(isinstance(each, str | Operator) for each in value)
    whole = (int, float) if name == "cost" else int
    return isinstance(value, whole) and not isinstance(value, bool) and value >= 0

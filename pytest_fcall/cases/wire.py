"""`wire:`, what an app may ask of models on its way to an answer."""

from __future__ import annotations

from dataclasses import replace

from yaml import Node

from pytest_fcall.cases import fields
from pytest_fcall.cases.expectations import expectation
from pytest_fcall.cases.patterns import pattern
from pytest_fcall.cases.scope import Scope
from pytest_fcall.core import WireExpectation

WIRE_KEYS = ("calls", "count", "tools", "models", "tokens", "cost")


def wire(node: Node, scope: Scope) -> WireExpectation:
    """Calls may be of any tool of the file: what an app offers its models is its own affair."""
    found = fields.entries(node, scope.faults, "`wire`")
    fields.known_only(found, WIRE_KEYS, scope.faults, "`wire`")
    if not found:
        scope.faults.add("missing-key", node, "this says nothing of what the app asks", "give it `calls:` or `count:`")
    inside = replace(scope, offered=frozenset(scope.toolbox.tools), names=set(), profile="strict")
    values = {name: pattern(found[name][1], scope) for name in WIRE_KEYS[1:] if name in found}
    calls = expectation(found["calls"][1], inside) if "calls" in found else None
    return WireExpectation(calls, **values)

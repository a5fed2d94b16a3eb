"""Calls as models and programs write them, in the form that a case file has for them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from yaml import MappingNode, Node, ScalarNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults
from pytest_fcall.cases.node_values import Entries
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.yaml.values import STR, mark_literal, write_flow, write_flow_key
from pytest_fcall.core.json_data import read_json
from pytest_fcall.core.values import Json

_SOURCE = re.compile(r"(?P<tool>[^\W\d][\w.-]*)\(")
_NAMES = ("name", "tool")
_ARGUMENTS = ("arguments", "args", "input", "parameters")
_KEYS = frozenset(("type", "id", "call_id", "function", *_NAMES, *_ARGUMENTS))
_SOME_ARGUMENTS = "{ARGUMENT: VALUE}"


def add_fault_of_source(node: ScalarNode, scope: Scope) -> bool:
    """Add a fault if a string is a call in the style of Python, `tool(argument=value)`, or a tool that is offered."""
    found = _SOURCE.match(node.value)
    if found is not None:
        _add_fault(node, found["tool"], _arguments_of_source(node.value), scope)
    elif node.value in scope.offered_tools:
        _add_fault(node, node.value, "", scope)
    else:
        return False
    return True


def add_fault_of_wire(node: Node, found: Entries, scope: Scope) -> bool:
    """Add a fault if a mapping is a call as models make it, such as `{name: tool, arguments: {…}}`."""
    if not found or not _KEYS.issuperset(found) or not scope.offered_tools.isdisjoint(found):
        return False
    function = found.node("function")
    if isinstance(function, MappingNode):
        return add_fault_of_wire(node, node_values.entries(function, Faults(scope.faults.source), "a call"), scope)
    name = next((found.node(key) for key in _NAMES if key in found), None)
    if not isinstance(name, ScalarNode) or name.tag != STR:
        return False
    given = next((found[key][1] for key in _ARGUMENTS if key in found), None)
    _add_fault(node, name.value, "" if given is None else _arguments_of_wire(given, scope), scope)
    return True


def _add_fault(node: Node, tool: str, arguments: str, scope: Scope) -> None:
    message = "a call is an item of a list, and begins with the name of its tool"
    call = f"- {write_flow_key(tool)}: {arguments}".rstrip()
    scope.faults.add("wrong-type", node, message, f"write `{call}`")


def _arguments_of_source(source: str) -> str:
    """The keyword arguments of a call in Python, if all of them are literals."""
    import ast

    try:
        call = ast.parse(source.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            return _SOME_ARGUMENTS
        given = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
        return _flow(given)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return _SOME_ARGUMENTS


def _arguments_of_wire(node: Node, scope: Scope) -> str:
    faults = Faults(scope.faults.source)
    value = node_values.value(node, faults)
    if isinstance(value, str):
        try:
            value = read_json(value)
        except ValueError:
            return _SOME_ARGUMENTS
    return _flow(value) if isinstance(value, Mapping) and not faults else _SOME_ARGUMENTS


def _flow(arguments: Json) -> str:
    return write_flow(mark_literal(arguments)) if arguments else ""

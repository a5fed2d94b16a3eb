"""`settings:`, what goes to the model beside messages and tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from yaml import Node, ScalarNode

from pytest_fcall.cases import fields
from pytest_fcall.cases.faults import did_you_mean, one_of, shown
from pytest_fcall.cases.scope import Scope
from pytest_fcall.core import Json

_CHOICES = ("auto", "none", "required")


def settings(node: Node, scope: Scope) -> dict[str, Json]:
    """All settings; of those that are known the values are checked."""
    found = fields.entries(node, scope.faults, "`settings`")
    return {name: _KNOWN.get(name, _any)(pair[1], name, scope) for name, pair in found.items()}


def _any(node: Node, _: str, scope: Scope) -> Json:
    return fields.value(node, scope.faults)


def _not_negative(node: Node, name: str, scope: Scope) -> Json:
    value = fields.number(node, scope.faults, f"`{name}`")
    if value < 0:
        scope.faults.add("wrong-value", node, f"`{name}` may not be below zero")
    return value


def _share(node: Node, name: str, scope: Scope) -> Json:
    value = fields.number(node, scope.faults, f"`{name}`")
    if not 0 <= value <= 1:
        scope.faults.add("wrong-value", node, f"`{name}` must be from 0 to 1")
    return value


def _number(node: Node, name: str, scope: Scope) -> Json:
    return fields.number(node, scope.faults, f"`{name}`")


def _integer(node: Node, name: str, scope: Scope) -> Json:
    return fields.integer(node, scope.faults, f"`{name}`")


def _count(node: Node, name: str, scope: Scope) -> Json:
    return fields.integer(node, scope.faults, f"`{name}`", least=1)


def _flag(node: Node, name: str, scope: Scope) -> Json:
    return fields.boolean(node, scope.faults, f"`{name}`")


def _tool_choice(node: Node, name: str, scope: Scope) -> Json:
    if not isinstance(node, ScalarNode):
        return fields.value(node, scope.faults)
    word = fields.word(node, scope.faults, f"`{name}`")
    if word in _CHOICES or not word:
        return word
    if word not in scope.toolbox.tools and scope.toolbox.complete:
        hint = did_you_mean(word, (*_CHOICES, *scope.toolbox.tools)) or f"{one_of(_CHOICES)}, or a tool's name"
        scope.faults.add("wrong-value", node, f"`{name}` cannot be {shown(word)}", hint)
    return {"type": "function", "function": {"name": word}}


_KNOWN: Mapping[str, Callable[[Node, str, Scope], Json]] = MappingProxyType(
    {
        "temperature": _not_negative,
        "top_p": _share,
        "frequency_penalty": _number,
        "presence_penalty": _number,
        "max_tokens": _count,
        "seed": _integer,
        "tool_choice": _tool_choice,
        "parallel_tool_calls": _flag,
    }
)
KNOWN_SETTINGS = tuple(_KNOWN)

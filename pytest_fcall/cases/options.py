"""The keys that may stand in `defaults:` and in each case, as they hold for one case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar, cast

from yaml import Node

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, SourceFile, did_you_mean, one_of, shown
from pytest_fcall.cases.node_values import Entries
from pytest_fcall.cases.option_values import environment as read_environment
from pytest_fcall.cases.option_values import user as read_user
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.yaml.tags import STR
from pytest_fcall.core import Fault, Json, World

_T = TypeVar("_T")

OPTION_KEYS = (
    *("system", "now", "tags", "category", "strings", "profile", "language"),
    *("skip", "xfail", "samples", "settings", "decoder", "retrieve"),
    *("environment", "setup", "stubs", "unmatched", "max_steps", "user"),
)
DEFAULT_KEYS = (*OPTION_KEYS, "never")


@dataclass(frozen=True, slots=True)
class Layer:
    """The defaults of one file."""

    source: SourceFile
    folder: Path
    entries: Entries


class Defaults:
    """The defaults of a file and of those it includes, nearest first. Each is read once for each clock."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = layers
        self._keys = frozenset(key for layer in layers for key in layer.entries)
        self._read: dict[tuple[int, str], tuple[object, list[Fault]]] = {}

    def all(self, key: str, read: Callable[[Node, Scope], _T], scope: Scope) -> list[_T]:
        """What each layer says, the nearest first. The faults found are those of the case in `scope` too."""
        if key not in self._keys:
            return []
        return [
            self._value(layer, layer.entries[key][1], read, scope) for layer in self._layers if key in layer.entries
        ]

    def nearest(self, key: str, read: Callable[[Node, Scope], _T], scope: Scope) -> _T | None:
        """What the nearest layer says that says anything."""
        if key not in self._keys:
            return None
        layer = next(layer for layer in self._layers if key in layer.entries)
        return self._value(layer, layer.entries[key][1], read, scope)

    def _value(self, layer: Layer, node: Node, read: Callable[[Node, Scope], _T], scope: Scope) -> _T:
        if scope.filling.row:
            value, found = _fresh(layer, node, read, scope)
        else:
            key = (id(node), scope.filling.now.isoformat())
            if key not in self._read:
                self._read[key] = _fresh(layer, node, read, scope)
            value, found = cast("tuple[_T, list[Fault]]", self._read[key])
        scope.faults.found += found
        return value


def _fresh(layer: Layer, node: Node, read: Callable[[Node, Scope], _T], scope: Scope) -> tuple[_T, list[Fault]]:
    faults = Faults(layer.source)
    filled = scope.filling.node(node, faults)
    return read(filled, replace(scope, faults=faults, folder=layer.folder, names=set())), faults.found


class Options:
    """What a case says, and where it is silent what the defaults say."""

    def __init__(self, entries: Entries, defaults: Defaults, scope: Scope) -> None:
        self._entries = entries
        self._defaults = defaults
        self._scope = scope

    def one(self, key: str, read: Callable[[Node, Scope], _T]) -> _T | None:
        """The value that holds."""
        if key in self._entries:
            return read(self._entries[key][1], self._scope)
        return self._defaults.nearest(key, read, self._scope)

    def joined(self, key: str, read: Callable[[Node, Scope], tuple[_T, ...]]) -> tuple[_T, ...]:
        """All values, those of the case first."""
        found = self._defaults.all(key, read, self._scope)
        if key in self._entries:
            found.insert(0, read(self._entries[key][1], self._scope))
        return found[0] if len(found) == 1 else tuple(item for part in found for item in part)

    def merged(self, key: str, read: Callable[[Node, Scope], Mapping[str, Json]]) -> Mapping[str, Json]:
        """All values key by key, those of the case before the others."""
        found = self._defaults.all(key, read, self._scope)
        if key in self._entries:
            found.insert(0, read(self._entries[key][1], self._scope))
        result: dict[str, Json] = {}
        for part in reversed(found):
            result |= part
        return result

    def world(self) -> World | None:
        """What stands behind the tools; None where nothing is said of it."""
        environment = self.one("environment", read_environment)
        setup = self.merged("setup", _setup)
        stubs = self.merged("stubs", _stubs)
        unmatched = self.one("unmatched", _unmatched)
        max_steps = self.one("max_steps", _max_steps)
        user = self.one("user", read_user)
        if not (environment or setup or stubs or unmatched or max_steps or user):
            return None
        return World(environment, setup, stubs, unmatched[0] if unmatched else "fail", max_steps or 10, user)


def decoder(node: Node, scope: Scope) -> str:
    """The name of a decoder."""
    return node_values.choice(node, scope.faults, "`decoder`", sorted(scope.extensions.decoders))


def category(node: Node, scope: Scope) -> str:
    """The row of the summary in which a case counts."""
    name = node_values.text(node, scope.faults, "`category`")
    if node.tag == STR and (not name or not name.isprintable() or name != name.strip()):
        scope.faults.add("wrong-value", node, f"{shown(name)} cannot be a category", "not empty, no space around it")
    return name


def _setup(node: Node, scope: Scope) -> Mapping[str, Json]:
    found = node_values.entries(node, scope.faults, "`setup`")
    return {name: node_values.value(pair[1], scope.faults) for name, pair in found.items()}


def _stubs(node: Node, scope: Scope) -> Mapping[str, Json]:
    found = node_values.entries(node, scope.faults, "`stubs`")
    for name, (key, _) in found.items():
        if scope.toolbox.complete and name not in scope.toolbox.tools:
            hint = did_you_mean(name, scope.toolbox.tools) or one_of(scope.toolbox.tools)
            scope.faults.add("unknown-tool", key, f"there is no tool {shown(name)}", hint)
    return {name: node_values.value(pair[1], scope.faults) for name, pair in found.items()}


def _unmatched(node: Node, scope: Scope) -> tuple[Json]:
    return (node_values.value(node, scope.faults),)


def _max_steps(node: Node, scope: Scope) -> int:
    return node_values.integer(node, scope.faults, "`max_steps`", least=1)


WORLD_READERS: Mapping[str, Callable[[Node, Scope], object]] = MappingProxyType(
    {
        "environment": read_environment,
        "setup": _setup,
        "stubs": _stubs,
        "unmatched": _unmatched,
        "max_steps": _max_steps,
        "user": read_user,
    }
)

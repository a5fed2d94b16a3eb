"""The options of a case: its own keys before the `defaults:` of its file and of the files that this includes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from yaml import Node

from pytest_fcall.cases import option_values as read
from pytest_fcall.cases.faults import Faults, SourceFile
from pytest_fcall.cases.node_values import Entries
from pytest_fcall.cases.option_values import OPTION_KEYS, OPTION_READERS
from pytest_fcall.cases.rules import language, profile, strings
from pytest_fcall.cases.scope import Scope
from pytest_fcall.core.expectation import Rules
from pytest_fcall.core.values import Json, Message

if TYPE_CHECKING:
    from pytest_fcall.core.conversation import ConversationSettings

_T = TypeVar("_T")
_NO_ENTRIES = Entries()


class Layer(NamedTuple):
    """The defaults of one file."""

    source: SourceFile
    folder: Path
    entries: Entries


class Defaults:
    """The defaults of a file and of those that it includes, nearest first.

    A value is read once for each clock. Cases without options of their own share one object.
    """

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = layers
        self._keys = frozenset(key for layer in layers for key in layer.entries)
        self._read: dict[tuple[int, str], tuple[Any, Faults]] = {}
        self._shared: dict[datetime, tuple[Options, Faults]] = {}
        self.uses_clock = any(layer.source.uses_clock for layer in layers)
        """Whether a default may contain the placeholder of the clock."""

    def check(self, scope: Scope) -> None:
        """Read all defaults, used or not, to find their faults."""
        for key, reader in OPTION_READERS.items():
            self.values(key, reader, scope)

    def clock(self, entries: Entries, scope: Callable[[], Scope]) -> datetime | None:
        """The clock that the case or its defaults set; None if they set none, as most do: those need no scope."""
        if "now" not in entries and "now" not in self._keys:
            return None
        return _Layers(entries, self, scope()).value("now", read.now)

    def options(self, entries: Entries, scope: Scope) -> Options:
        """The options of a case. Their faults are added to those of the scope."""
        if scope.placeholders.values or not OPTION_KEYS.isdisjoint(entries):
            return Options(entries, self, scope)
        now = scope.placeholders.now
        if now not in self._shared:
            faults = Faults(scope.faults.source)
            self._shared[now] = Options(_NO_ENTRIES, self, replace(scope, faults=faults)), faults
        options, faults = self._shared[now]
        scope.faults.extend(faults)
        return options

    def tags(self, entries: Entries, scope: Scope) -> tuple[str, ...]:
        """The tags of a case, as `options` reads them. Their faults are added to those of the scope."""
        return _Layers(entries, self, scope).tags()

    def sets(self, key: str) -> bool:
        """Whether a file sets this default."""
        return key in self._keys

    def values(self, key: str, reader: Callable[[Node, Scope], _T], scope: Scope) -> list[_T]:
        """The values of a key in all layers, nearest first."""
        if key not in self._keys:
            return []
        return [
            self._value(layer, layer.entries[key][1], reader, scope) for layer in self._layers if key in layer.entries
        ]

    def nearest(self, key: str, reader: Callable[[Node, Scope], _T], scope: Scope) -> _T | None:
        """The value of a key in the nearest layer that has it."""
        if key not in self._keys:
            return None
        layer = next(layer for layer in self._layers if key in layer.entries)
        return self._value(layer, layer.entries[key][1], reader, scope)

    def _value(self, layer: Layer, node: Node, reader: Callable[[Node, Scope], _T], scope: Scope) -> _T:
        if scope.placeholders.values:
            value, faults = _fresh(layer, node, reader, scope)
        else:
            key = (id(node), scope.placeholders.now.isoformat())
            if key not in self._read:
                self._read[key] = _fresh(layer, node, reader, scope)
            value, faults = self._read[key]
        scope.faults.extend(faults)
        return value


def _fresh(layer: Layer, node: Node, reader: Callable[[Node, Scope], _T], scope: Scope) -> tuple[_T, Faults]:
    faults = Faults(layer.source)
    filled = scope.placeholders.fill_node(node, faults)
    return reader(filled, replace(scope, faults=faults, folder=layer.folder, known_calls=set())), faults


class Options:
    """The values of all options, as they hold for one case. None, or an empty value, means that none is set."""

    def __init__(self, entries: Entries, defaults: Defaults, scope: Scope) -> None:
        layers = _Layers(entries, defaults, scope)
        self.profile = layers.value("profile", profile)
        scope.profile = self.profile or "strict"
        system = layers.value("system", read.system)
        self.system_message: tuple[Message, ...] = ({"role": "system", "content": system},) if system else ()
        self.strings = layers.value("strings", strings)
        self.never = layers.joined("never", read.never)
        self.rules = Rules(
            profile=scope.profile,
            strings=self.strings or "exact",
            match=scope.match_rules,
            never=self.never,
            now=scope.placeholders.now,
            language=layers.value("language", language) or "python",
        )
        self.conversation = _conversation_settings(layers)
        self.category = layers.value("category", read.category)
        self.tags = layers.tags()
        self.skip = layers.joined("skip", read.skip)
        self.xfail = layers.joined("xfail", read.xfail)
        self.samples = layers.value("samples", read.samples)
        self.variants = layers.value("variants", read.variants)
        self.settings = layers.merged("settings", read.settings)
        self.decoder = layers.value("decoder", read.decoder)
        self.retrieve = layers.value("retrieve", read.retrieval)
        self.attacks = layers.value("inject", read.inject) or ()
        self.result_faults = layers.value("faults", read.result_faults) or ()


def _conversation_settings(layers: _Layers) -> ConversationSettings | None:
    environment = layers.value("environment", read.environment)
    setup = layers.merged("setup", read.setup)
    stubs = layers.merged("stubs", read.stubs)
    unmatched = layers.value("unmatched", read.unmatched_result)
    max_steps = layers.value("max_steps", read.max_steps)
    user = layers.value("user", read.user)
    if not (environment or setup or stubs or unmatched or max_steps or user):
        return None
    from pytest_fcall.core.conversation import ConversationSettings

    return ConversationSettings(environment, setup, stubs, unmatched[0] if unmatched else "fail", max_steps or 10, user)


class _Layers:
    """The keys of one case, and the defaults beneath them."""

    def __init__(self, entries: Entries, defaults: Defaults, scope: Scope) -> None:
        self._entries = entries
        self._defaults = defaults
        self._scope = scope

    def value(self, key: str, reader: Callable[[Node, Scope], _T]) -> _T | None:
        """The nearest value; None if no layer has one."""
        if key in self._entries:
            return reader(self._entries[key][1], self._scope)
        return self._defaults.nearest(key, reader, self._scope)

    def tags(self) -> tuple[str, ...]:
        """The tags of all layers, each once."""
        return tuple(dict.fromkeys(self.joined("tags", read.tags)))

    def joined(self, key: str, reader: Callable[[Node, Scope], tuple[_T, ...]]) -> tuple[_T, ...]:
        """The items of all layers, nearest first."""
        return tuple(item for part in self._all(key, reader) for item in part)

    def merged(self, key: str, reader: Callable[[Node, Scope], Mapping[str, Json]]) -> Mapping[str, Json]:
        """The mappings of all layers in one; the nearest value of a key holds."""
        result: dict[str, Json] = {}
        for part in reversed(self._all(key, reader)):
            result.update(part)
        return result

    def _all(self, key: str, reader: Callable[[Node, Scope], _T]) -> list[_T]:
        own = [reader(self._entries[key][1], self._scope)] if key in self._entries else []
        return own + self._defaults.values(key, reader, self._scope)

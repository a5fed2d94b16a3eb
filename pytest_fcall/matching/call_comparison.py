"""The calls of one reply, compared with whatever an expectation names; each comparison is made once.

Before that, what the wire did to arguments is undone: not every wire can say all that JSON can.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from pytest_fcall.core.expectation import CallPattern, ExpectedCall, Rules
from pytest_fcall.core.glob import glob_matches
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.reply import Call, Reply
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.matching.objects import compare_named, compare_unnamed
from pytest_fcall.matching.place import CallContext, Keys, Mismatch, Place
from pytest_fcall.matching.values import compare
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.tool_schema import ToolSchema, tool_schema

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


_EXACT = 2**53
"""Below this a float tells every integer from the next."""
_FLOATS = "Whole numbers such as 3.0 count as integers: the wire makes floats of all numbers."
_NULLS = "Null counts as left out where the schema takes no null: the wire makes every argument required."


def wire_effects_of(reply: Reply) -> Collection[str]:
    """What the back end says that the wire does: `floats`, `nulls`, or nothing."""
    said = reply.engine.get("wire")
    return [effect for effect in said if effect in ("floats", "nulls")] if isinstance(said, list | tuple) else []


@dataclass(frozen=True, slots=True)
class WireEffects:
    """The way from what came over a wire to what the model meant. `notes` tell what was changed on it."""

    effects: Collection[str]
    notes: list[str] = field(default_factory=list)

    def meant(self, call: Call, schema: ToolSchema | None) -> Call:
        """The call as it was meant."""
        try:
            arguments = dict(self._entries(call.arguments, (), schema))
        except RecursionError:
            return call
        return replace(call, arguments=arguments)

    def _value(self, value: Json, keys: Keys, schema: ToolSchema | None) -> Json:
        if isinstance(value, Mapping):
            return dict(self._entries(value, keys, schema))
        if isinstance(value, list | tuple):
            return [self._value(item, (*keys, index), schema) for index, item in enumerate(value)]
        if "floats" in self.effects and isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
            self.notes.append(_FLOATS)
            return int(value)
        return value

    def _entries(self, value: Mapping[str, Json], keys: Keys, schema: ToolSchema | None) -> Iterator[tuple[str, Json]]:
        for key, item in value.items():
            below = (*keys, key)
            if item is None and "nulls" in self.effects and schema and _stands_for_omission(below, schema):
                self.notes.append(_NULLS)
            else:
                yield key, self._value(item, below, schema)


def _stands_for_omission(keys: Keys, schema: ToolSchema) -> bool:
    """Whether a null here stands for an optional argument, and can stand for nothing else."""
    known = schema.properties_at(keys[:-1])
    name = keys[-1]
    return name in known.schemas and name not in known.required and bool(schema.check_at(keys, None))


def schema_mismatches(call: Call, ways: CallContext) -> list[Mismatch]:
    """Check the raw arguments against the schema alone."""
    if ways.schema is None:
        return []
    return [
        Mismatch(finding.kind, finding.path, partial(getattr, finding, "message"), finding.expected, finding.got)
        for finding in ways.schema.check(call.arguments)
    ]


def argument_mismatches(
    expected: ExpectedCall, call: Call, ways: CallContext, by_schema: list[Mismatch]
) -> list[Mismatch]:
    """Give all that is wrong with a call's arguments: what the schema finds, then what the case finds besides."""
    if expected.arguments is None:
        return by_schema
    by_case = _compare_arguments(expected.arguments, call, ways, free=expected.open)
    return by_schema + list(_without_repetition(by_case, by_schema)) if by_schema else by_case


def pattern_mismatches(pattern: CallPattern, call: Call, ways: CallContext) -> list[Mismatch]:
    """Compare a call of `never` or `allow`: the arguments that the pattern names, and no others."""
    return [] if pattern.arguments is None else _compare_arguments(pattern.arguments, call, ways, free=True)


def _compare_arguments(expected: Mapping[str, Pattern], call: Call, ways: CallContext, *, free: bool) -> list[Mismatch]:
    at = Place(ways, (), ways.rules.strings)
    try:
        named = compare_named(expected, call.arguments, at, compare)
        return named if free else named + compare_unnamed(expected, call.arguments, at, compare)
    except RecursionError:
        return at.undecided(None, None, "what is expected of them nests too deeply.")


def _without_repetition(by_case: Iterable[Mismatch], by_schema: Iterable[Mismatch]) -> Iterable[Mismatch]:
    """Leave out what only repeats that a value of the wrong type, or one too many or too few, is wrong."""
    settled = {found.keys for found in by_schema if found.kind != "schema"}
    for mismatch in by_case:
        keys = mismatch.keys
        if not any(keys[:length] in settled for length in range(1, len(keys) + 1)):
            yield mismatch


class CallComparison:
    """A reply's calls beside the tools that were offered and the rules that hold."""

    def __init__(
        self,
        calls: Sequence[Call],
        tools: Sequence[Tool],
        rules: Rules,
        comparators: Mapping[str, Comparator],
        effects: Collection[str] = (),
    ) -> None:
        self.notes: list[str] = []
        self.rules = rules
        self._tools = {tool.name: tool for tool in tools}
        self._ways = [self._ways_of(call, rules, comparators) for call in calls]
        wire = WireEffects(effects, self.notes)
        self.calls = (
            [wire.meant(call, ways.schema) for call, ways in zip(calls, self._ways, strict=True)] if effects else calls
        )
        self._by_schema: dict[int, list[Mismatch]] = {}
        self._compared: dict[tuple[int, int], list[Mismatch]] = {}

    @property
    def offered(self) -> Sequence[str]:
        """The names of the tools offered."""
        return list(self._tools)

    def is_unknown(self, index: int) -> bool:
        """Whether a tool was called that was not offered. Without any tools nothing is known about that."""
        return bool(self._tools) and self.calls[index].name not in self._tools

    def by_schema(self, index: int) -> list[Mismatch]:
        """What the schema alone finds wrong with a call."""
        if index not in self._by_schema:
            self._by_schema[index] = schema_mismatches(self.calls[index], self._ways[index])
        return self._by_schema[index]

    def mismatches(self, expected: ExpectedCall, index: int) -> list[Mismatch] | None:
        """What is wrong with a call; None where it calls another tool."""
        call = self.calls[index]
        if call.name != expected.tool:
            return None
        key = (id(expected), index)
        if key not in self._compared:
            self._compared[key] = argument_mismatches(expected, call, self._ways[index], self.by_schema(index))
        return self._compared[key]

    def pattern(self, pattern: CallPattern, index: int) -> list[Mismatch] | None:
        """What keeps a call from a pattern of `never` or `allow`; None where its name already does.

        Operators of `match:` rules say what is free where a case expects something; here nothing is expected.
        """
        call = self.calls[index]
        if not glob_matches(pattern.tool, call.name):
            return None
        return pattern_mismatches(pattern, call, self._ways[index]._replace(rules=self._without_operators))

    @cached_property
    def _without_operators(self) -> Rules:
        return replace(self.rules, match=tuple(replace(rule, operator=None) for rule in self.rules.match))

    def _ways_of(self, call: Call, rules: Rules, comparators: Mapping[str, Comparator]) -> CallContext:
        tool = self._tools.get(call.name)
        try:
            schema = None if tool is None else tool_schema(tool)
        except SchemaError as error:
            self.notes.append(
                f"The arguments of `{call.name}` were judged without its schema, which is broken: {error}"
            )
            schema = None
        return CallContext(call.name, schema, rules, comparators)

"""The calls of one reply, compared with expected calls and with patterns of calls; each comparison is made once.

Arguments are restored first where the wire format has changed them: some cannot carry all that JSON can.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.expectation import CallPattern, ExpectedCall
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.reply import Call, Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason
from pytest_fcall.matching.containers import compare_named, compare_unnamed
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.place import CallContext, Mismatch, Place, ValuePath
from pytest_fcall.matching.values import TOO_DEEP, compare
from pytest_fcall.schema.errors import SchemaError

if TYPE_CHECKING:
    from pytest_fcall.schema.tool_schema import ToolSchema

_EXACT: Final = 2**53
"""Below this, floats can represent every integer."""
_FLOATS: Final = "Whole numbers such as 3.0 count as integers: the wire makes floats of all numbers."
_NULLS: Final = "Null counts as left out where the schema takes no null: the wire makes every argument required."


class CallFindings(NamedTuple):
    """The reasons against calls, the reasons for missing calls, and the pairs of expected and made calls."""

    wrong: tuple[Reason, ...] = ()
    missing: tuple[Reason, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()


def wire_effects_of(reply: Reply) -> Collection[str]:
    """The changes to arguments that the backend reports of its wire format: `floats`, `nulls`, or none."""
    effects = reply.engine.get("wire")
    return effects if isinstance(effects, (list, tuple)) else ()


class CallComparison:
    """The calls of a reply beside the offered tools and the rules. `notes` collects remarks for the verdict."""

    def __init__(self, calls: Sequence[Call], context: MatchContext, effects: Collection[str] = ()) -> None:
        self.calls = calls
        self.context = context
        self.notes: list[str] = []
        self._contexts = [self._call_context(call) for call in calls]
        self._by_schema: dict[int, list[Mismatch]] = {}
        self._by_case: dict[tuple[int, int], tuple[ExpectedCall, list[Mismatch]]] = {}
        """By the id of the expected call, which is kept with its mismatches so that no other can get its id."""
        if effects:
            self._undo(effects)

    def is_unknown(self, index: int) -> bool:
        """Whether the called tool was not offered. Without any tools nothing is known about that."""
        return bool(self.context.tools) and self.calls[index].name not in self.context.tools_by_name

    def schema_mismatches(self, index: int) -> list[Mismatch]:
        """The mismatches of a call with the schema of its tool."""
        if index not in self._by_schema:
            schema = self._contexts[index].schema
            findings = [] if schema is None else schema.check(self.calls[index].arguments)
            self._by_schema[index] = [
                Mismatch(each.kind, each.path, partial(getattr, each, "message"), each.expected, each.got)
                for each in findings
            ]
        return self._by_schema[index]

    def mismatches(self, expected: ExpectedCall, index: int) -> list[Mismatch] | None:
        """The mismatches of a call with the schema and with an expected call; None if it calls another tool."""
        call = self.calls[index]
        if call.name != expected.tool:
            return None
        key = (id(expected), index)
        if key not in self._by_case:
            by_schema = self.schema_mismatches(index)
            found = by_schema
            if expected.arguments is not None:
                context = self._contexts[index]
                by_case = _compare_arguments(expected.arguments, call, context, free=expected.open)
                found = [*by_schema, *_without_repetition(by_case, by_schema)]
            self._by_case[key] = expected, found
        return self._by_case[key][1]

    def pattern_mismatches(self, pattern: CallPattern, index: int) -> list[Mismatch] | None:
        """The mismatches between a call and a pattern of `never` or `allow`; None where it calls another tool.

        Operators of `match:` rules do not apply: they stand in for expected values, and nothing is expected here.
        """
        call = self.calls[index]
        if not glob_matches(pattern.tool, call.name):
            return None
        if pattern.arguments is None:
            return []
        context = self._contexts[index]._replace(rules=self.context.rules_without_operators)
        return _compare_arguments(pattern.arguments, call, context, free=True)

    def _call_context(self, call: Call) -> CallContext:
        context = self.context
        schema = None
        try:
            schema = context.schema(call.name)
        except SchemaError as error:
            self.notes.append(
                f"The arguments of `{call.name}` were judged without its schema, which is broken: {error}"
            )
        return CallContext(call.name, schema, context.rules, context.comparators, compare)

    def _undo(self, effects: Collection[str]) -> None:
        wire = _WireEffects(effects)
        self.calls = [wire.undone(call, each.schema) for call, each in zip(self.calls, self._contexts, strict=True)]
        self.notes += wire.notes


def _compare_arguments(
    expected: Mapping[str, Pattern], call: Call, context: CallContext, *, free: bool
) -> list[Mismatch]:
    place = Place(context, (), context.rules.strings)
    try:
        named = compare_named(expected, call.arguments, place)
        return named if free else named + compare_unnamed(expected, call.arguments, place)
    except RecursionError:
        return place.undecided(None, None, TOO_DEEP)


def _without_repetition(by_case: Iterable[Mismatch], by_schema: Iterable[Mismatch]) -> Iterable[Mismatch]:
    """Leave out mismatches at and below paths where the schema has found a wrong type or an unknown argument."""
    settled = {found.path for found in by_schema if found.kind != "schema"}
    for mismatch in by_case:
        path = mismatch.path
        if not any(path[:length] in settled for length in range(1, len(path) + 1)):
            yield mismatch


class _WireEffects:
    """Restores the arguments that the model meant. `notes` collects the changes."""

    def __init__(self, effects: Collection[str]) -> None:
        self.effects = effects
        self.notes: list[str] = []

    def undone(self, call: Call, schema: ToolSchema | None) -> Call:
        """The call as the model meant it."""
        try:
            arguments = dict(self._entries(call.arguments, (), schema))
        except RecursionError:
            return call
        return replace(call, arguments=arguments)

    def _value(self, value: Json, path: ValuePath, schema: ToolSchema | None) -> Json:
        if isinstance(value, Mapping):
            return dict(self._entries(value, path, schema))
        if isinstance(value, list | tuple):
            return [self._value(item, (*path, index), schema) for index, item in enumerate(value)]
        if "floats" in self.effects and isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
            self.notes.append(_FLOATS)
            return int(value)
        return value

    def _entries(
        self, value: Mapping[str, Json], path: ValuePath, schema: ToolSchema | None
    ) -> Iterator[tuple[str, Json]]:
        for key, item in value.items():
            below = (*path, key)
            if item is None and "nulls" in self.effects and schema and _means_omission(below, schema):
                self.notes.append(_NULLS)
            else:
                yield key, self._value(item, below, schema)


def _means_omission(path: ValuePath, schema: ToolSchema) -> bool:
    """Whether a null here can only mean that an optional argument is left out."""
    known = schema.properties_at(path[:-1])
    name = path[-1]
    return name in known.schemas and name not in known.required and bool(schema.check_at(path, None))

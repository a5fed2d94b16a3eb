"""The calls that were made, compared with whatever an expectation names; each comparison is made once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_fcall.core.call import Call
from pytest_fcall.core.expectation import CallPattern, ExpectedCall
from pytest_fcall.core.glob import glob_matches
from pytest_fcall.core.rules import Rules
from pytest_fcall.core.tool import Tool
from pytest_fcall.matching.arguments import argument_mismatches, pattern_mismatches, schema_mismatches
from pytest_fcall.matching.mismatch import Mismatch
from pytest_fcall.matching.place import Ways
from pytest_fcall.matching.wire import Wire
from pytest_fcall.schema import SchemaError, tool_schema

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


class Comparison:
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
        wire = Wire(effects, self.notes)
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

    def _ways_of(self, call: Call, rules: Rules, comparators: Mapping[str, Comparator]) -> Ways:
        tool = self._tools.get(call.name)
        try:
            schema = None if tool is None else tool_schema(tool)
        except SchemaError as error:
            self.notes.append(
                f"The arguments of `{call.name}` were judged without its schema, which is broken: {error}"
            )
            schema = None
        return Ways(call.name, schema, rules, comparators)

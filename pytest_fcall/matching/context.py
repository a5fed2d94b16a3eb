"""The context of judging one case: tools, rules and comparators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.core.expectation import Rules
from pytest_fcall.core.request import Tool
from pytest_fcall.schema.tool_schema import ToolSchema, tool_schema

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator

_NO_COMPARATORS: Mapping[str, Comparator] = MappingProxyType({})


class MatchContext:
    """The offered tools, the matching rules and the comparators: the same for every reply and turn of a case."""

    def __init__(
        self,
        tools: Sequence[Tool],
        rules: Rules = Rules(),  # noqa: B008  frozen
        comparators: Mapping[str, Comparator] = _NO_COMPARATORS,
    ) -> None:
        self.tools = tools
        self.rules = rules
        self.comparators = comparators
        self._schemas: dict[str, ToolSchema] = {}

    def with_rules(self, rules: Rules) -> MatchContext:
        """The same tools and comparators with other rules."""
        return MatchContext(self.tools, rules, self.comparators)

    @cached_property
    def tools_by_name(self) -> Mapping[str, Tool]:
        """The offered tools by their names."""
        return {tool.name: tool for tool in self.tools}

    def schema(self, name: str) -> ToolSchema | None:
        """The schema of an offered tool; None for other tools. Raises SchemaError where it is broken."""
        found = self._schemas.get(name)
        if found is None and (tool := self.tools_by_name.get(name)) is not None:
            found = self._schemas[name] = tool_schema(tool)
        return found

    @cached_property
    def rules_without_operators(self) -> Rules:
        """The rules without the operators of `match:`, which apply to expected arguments only."""
        rules = self.rules
        return (
            rules._replace(match=tuple(replace(rule, operator=None) for rule in rules.match)) if rules.match else rules
        )

    @cached_property
    def rules_outside_calls(self) -> Rules:
        """The rules without `match:`, which applies to arguments of calls only."""
        return self.rules._replace(match=()) if self.rules.match else self.rules


class MatchContexts:
    """Contexts of cases, one after the other. Cases of a file that have tools and rules in common share one."""

    def __init__(self) -> None:
        self._last = MatchContext(())

    def of(self, tools: Sequence[Tool], rules: Rules, comparators: Mapping[str, Comparator]) -> MatchContext:
        """The context of a case; that of the last one if it was for these very tools, rules and comparators."""
        last = self._last
        if not (last.tools is tools and last.rules is rules and last.comparators is comparators):
            last = self._last = MatchContext(tools, rules, comparators)
        return last


class KeptMatchContexts(MatchContexts):
    """Contexts of cases that come in any order, again and again: none is made twice."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[tuple[int, int, int], MatchContext] = {}

    def of(self, tools: Sequence[Tool], rules: Rules, comparators: Mapping[str, Comparator]) -> MatchContext:
        """The context for these very tools, rules and comparators, which it keeps alive."""
        key = id(tools), id(rules), id(comparators)
        if (kept := self._kept.get(key)) is None:
            kept = self._kept[key] = MatchContext(tools, rules, comparators)
        return kept

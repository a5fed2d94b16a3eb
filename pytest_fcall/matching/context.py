"""The context of judging one case: tools, rules and comparators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.core.expectation import Rules
from pytest_fcall.core.request import Tool

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

    def with_rules(self, rules: Rules) -> MatchContext:
        """The same tools and comparators with other rules."""
        return MatchContext(self.tools, rules, self.comparators)

    @cached_property
    def tools_by_name(self) -> Mapping[str, Tool]:
        """The offered tools by their names."""
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def rules_without_operators(self) -> Rules:
        """The rules without the operators of `match:`, which apply to expected arguments only."""
        rules = self.rules
        return (
            replace(rules, match=tuple(replace(rule, operator=None) for rule in rules.match)) if rules.match else rules
        )

    @cached_property
    def rules_outside_calls(self) -> Rules:
        """The rules without `match:`, which applies to arguments of calls only."""
        return replace(self.rules, match=()) if self.rules.match else self.rules

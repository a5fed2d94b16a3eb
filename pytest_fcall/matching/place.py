"""Where a value stands inside a call, and how values are compared there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_fcall.core.glob import glob_matches
from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.core.rules import Rules, Strings
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import ReasonKind
from pytest_fcall.matching.mismatch import Keys, Mismatch, path_text
from pytest_fcall.matching.strings import NORMAL_FORMS
from pytest_fcall.matching.wording import json_type, show, type_in_words
from pytest_fcall.schema import NO_PROPERTIES, Properties, ToolSchema

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


@dataclass(frozen=True, slots=True)
class Ways:
    """What is the same for every value of one call. `schema` is None where nothing is known about the tool."""

    tool: str
    schema: ToolSchema | None
    rules: Rules
    comparators: Mapping[str, Comparator]


@dataclass(frozen=True, slots=True)
class Place:
    """A value's way from the call's arguments, and the rules that hold there.

    `standing` is the operator of a `match:` rule: it stands in for whatever the case expects here.
    """

    ways: Ways
    keys: Keys
    strings: Strings
    standing: Operator | None = None

    @property
    def name(self) -> str:
        """The value's name in sentences."""
        return f"`{path_text(self.keys)}`" if self.keys else "the arguments"

    def child(self, key: str | int) -> Place:
        """Go down to one argument, key or item.

        The first rule that fits counts; one for strings also holds for everything below.
        """
        keys = (*self.keys, key)
        if not self.ways.rules.match:
            return Place(self.ways, keys, self.strings)
        path = f"{self.ways.tool}.{path_text(keys)}"
        rules = [rule for rule in self.ways.rules.match if glob_matches(rule.path, path)]
        strings = next((rule.strings for rule in rules if rule.strings is not None), self.strings)
        standing = next((rule.operator for rule in rules if rule.operator is not None), None)
        return Place(self.ways, keys, strings, standing)

    def outside_schema(self) -> Place:
        """The same place where the schema has nothing to say: inside JSON that travels as text."""
        return replace(self, ways=replace(self.ways, schema=None))

    def properties(self) -> Properties:
        """What the schema says about the keys of an object here."""
        schema = self.ways.schema
        return NO_PROPERTIES if schema is None else schema.properties_at(self.keys)

    def same_text(self, expected: str, got: str) -> bool:
        """Whether two strings count as equal here."""
        if expected == got:
            return True
        normal = NORMAL_FORMS[self.strings]
        return normal(expected) == normal(got)

    def mismatch(self, expected: Pattern, got: Json, hint: str = "") -> list[Mismatch]:
        """Report that `got` is not what is expected here."""
        shown, wanted = show(got), show(expected)
        kind: ReasonKind = "wrong_value"
        if types := _different_types(expected, got):
            kind, shown, wanted = "wrong_type", f"{shown} ({types[0]})", f"{wanted} ({types[1]})"
        message = f"{self.name} is {shown}, expected {wanted}" + (f"; {hint}" if hint else "")
        return [Mismatch(kind, self.keys, message, expected, got)]

    def undecided(self, expected: Pattern, got: Json, why: str) -> list[Mismatch]:
        """Report that nobody can say whether `got` is right; that never counts as right."""
        return [
            Mismatch("wrong_value", self.keys, f"{self.name} cannot be judged: {why}", expected, got, undecided=True)
        ]


def _different_types(expected: Pattern, got: Json) -> tuple[str, str] | None:
    if expected is None or got is None or isinstance(expected, Operator):
        return None
    types = json_type(got), json_type(expected)
    if types[0] == types[1] or {"integer", "number"}.issuperset(types):
        return None
    return type_in_words(got), type_in_words(expected)

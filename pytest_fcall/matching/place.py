"""The place of a value inside a call, the rules that hold there, and the mismatches found there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pytest_fcall.core.expectation import Rules, Strings
from pytest_fcall.core.glob import glob_matches
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import ReasonKind
from pytest_fcall.matching.strings import NORMAL_FORMS
from pytest_fcall.matching.wording import json_type, type_in_words, value_text
from pytest_fcall.schema.tool_schema import NO_PROPERTIES, Properties, ToolSchema
from pytest_fcall.schema.value_text import path_text

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


Keys: TypeAlias = tuple[str | int, ...]
"""The way from a call's arguments to a value: names and list indices."""


class Mismatch(NamedTuple):
    """One finding about the value at `keys`.

    `tell` writes its sentence: most findings are of alternatives that did not come to be the nearest.
    """

    kind: ReasonKind
    keys: Keys
    tell: Callable[[], str]
    expected: Pattern = None
    got: Json = None
    undecided: bool = False
    """Whether nobody could say: an operator that needs what is not here, or a comparator that failed."""


class CallContext(NamedTuple):
    """What is the same for every value of one call. `schema` is None where nothing is known about the tool."""

    tool: str
    schema: ToolSchema | None
    rules: Rules
    comparators: Mapping[str, Comparator]


class Place(NamedTuple):
    """A value's way from the call's arguments, and the rules that hold there.

    `standing` is the operator of a `match:` rule: it stands in for a plain value that the case expects here.
    """

    ways: CallContext
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

    def wanted(self, expected: Pattern) -> Pattern:
        """What is expected here by case and rules: an operator that the case writes itself, or that of a rule."""
        return expected if self.standing is None or isinstance(expected, Operator) else self.standing

    def outside_schema(self) -> Place:
        """The same place where the schema has nothing to say: inside JSON that travels as text."""
        return self._replace(ways=self.ways._replace(schema=None))

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

    def mismatch(self, expected: Pattern, got: Json, hint: str | Callable[[], str] = "") -> list[Mismatch]:
        """Report that `got` is not what is expected here; `hint` says what may be done about it, if anything."""

        def tell() -> str:
            shown, wanted = value_text(got), value_text(expected)
            if differ:
                shown, wanted = f"{shown} ({type_in_words(got)})", f"{wanted} ({type_in_words(expected)})"
            advice = hint if isinstance(hint, str) else hint()
            return f"{self.name} is {shown}, expected {wanted}" + (f"; {advice}" if advice else "")

        differ = _differ_in_type(expected, got)
        return [Mismatch("wrong_type" if differ else "wrong_value", self.keys, tell, expected, got)]

    def undecided(self, expected: Pattern, got: Json, why: str) -> list[Mismatch]:
        """Report that nobody can say whether `got` is right; that never counts as right."""
        message = f"{self.name} cannot be judged: {why}"
        return [Mismatch("wrong_value", self.keys, lambda: message, expected, got, undecided=True)]


def _differ_in_type(expected: Pattern, got: Json) -> bool:
    if expected is None or got is None or isinstance(expected, Operator):
        return False
    types = {json_type(got), json_type(expected)}
    return len(types) > 1 and types != {"integer", "number"}

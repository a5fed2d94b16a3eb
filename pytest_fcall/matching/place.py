"""The place of a value inside a call, the rules that hold there, and the mismatches found there, with hints."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeGuard

from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.expectation import Rules, Strings
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json, path_text
from pytest_fcall.core.verdict import Reason, ReasonKind
from pytest_fcall.schema.tool_schema import NO_PROPERTIES, Properties, ToolSchema

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator

ValuePath: TypeAlias = tuple[str | int, ...]
"""The names and list indices that lead from a call's arguments to a value."""


class Mismatch(NamedTuple):
    """One difference between the value at `path` and what is expected there.

    `message` writes the sentence when it is needed: most mismatches belong to alternatives that are not reported.
    """

    kind: ReasonKind
    path: ValuePath
    message: Callable[[], str]
    expected: Pattern = None
    got: Json = None
    undecided: bool = False
    """True where the value could not be judged: an operator misses something it needs, or a comparator failed."""

    def as_reason(self, kind: ReasonKind | None = None, above: ValuePath = ()) -> Reason:
        """The mismatch as a reason of a verdict; `above` is the path to what `path` starts from."""
        return Reason(kind or self.kind, path_text((*above, *self.path)), self.message(), self.expected, self.got)


class CallContext(NamedTuple):
    """The tool, schema, rules and comparators of one call. `schema` is None for a tool without a usable schema."""

    tool: str
    schema: ToolSchema | None
    rules: Rules
    comparators: Mapping[str, Comparator]
    compare: Callable[[Pattern, Json, Place], list[Mismatch]]
    """Compares a value at a place. Operators that compare in another way, such as `$structure`, replace it."""


class Place(NamedTuple):
    """The path to a value, and the rules that hold there.

    `rule_operator` is the operator of a `match:` rule. It replaces a plain value that the case expects here.
    """

    context: CallContext
    path: ValuePath
    strings: Strings
    rule_operator: Operator | None = None

    @property
    def name(self) -> str:
        """The value's name in sentences."""
        return f"`{path_text(self.path)}`" if self.path else "the arguments"

    def child(self, key: str | int) -> Place:
        """The place of one argument, key or item.

        The first rule that matches counts. One about strings also holds for everything below.
        """
        path = (*self.path, key)
        if not self.context.rules.match:
            return Place(self.context, path, self.strings)
        full_path = f"{self.context.tool}.{path_text(path)}"
        rules = [rule for rule in self.context.rules.match if glob_matches(rule.path, full_path)]
        strings = next((rule.strings for rule in rules if rule.strings is not None), self.strings)
        rule_operator = next((rule.operator for rule in rules if rule.operator is not None), None)
        return Place(self.context, path, strings, rule_operator)

    def expected(self, pattern: Pattern) -> Pattern:
        """The operator of the `match:` rule for this place, unless there is none or the case has its own."""
        return pattern if self.rule_operator is None or isinstance(pattern, Operator) else self.rule_operator

    def compare(self, pattern: Pattern, got: Json) -> list[Mismatch]:
        """Compare a value with a pattern, whatever `match:` rules say."""
        return self.context.compare(pattern, got, self)

    def compare_by_rule(self, pattern: Pattern, got: Json) -> list[Mismatch]:
        """Compare a value with the operator of the `match:` rule for this place, if any, or else with the pattern."""
        return self.context.compare(self.expected(pattern), got, self)

    def outside_schema(self) -> Place:
        """The same place without a schema, as inside JSON that travels as text."""
        return self._replace(context=self.context._replace(schema=None))

    def properties(self) -> Properties:
        """The schemas of the keys of an object here."""
        schema = self.context.schema
        return NO_PROPERTIES if schema is None else schema.properties_at(self.path)

    def same_text(self, expected: str, got: str) -> bool:
        """Whether two strings count as equal here."""
        if expected == got:
            return True
        from pytest_fcall.matching.strings import NORMAL_FORMS

        normal = NORMAL_FORMS[self.strings]
        return normal(expected) == normal(got)

    def mismatch(self, expected: Pattern, got: Json, hint: str | Callable[[], str] = "") -> list[Mismatch]:
        """Report that `got` is not what is expected here; `hint` says what to do about it, if anything."""
        from pytest_fcall.matching.wording import differ_in_type, mismatch_text

        differ = differ_in_type(expected, got)
        return [
            Mismatch(
                "wrong_type" if differ else "wrong_value",
                self.path,
                lambda: mismatch_text(self.name, expected, got, hint, with_types=differ),
                expected,
                got,
            )
        ]

    def undecided(self, expected: Pattern, got: Json, why: str) -> list[Mismatch]:
        """Report that `got` cannot be judged, which never counts as right."""
        message = f"{self.name} cannot be judged: {why}"
        return [Mismatch("wrong_value", self.path, lambda: message, expected, got, undecided=True)]


def is_number(value: Pattern) -> TypeGuard[int | float]:
    """Whether the value is a number, which a boolean is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_list(value: Pattern) -> TypeGuard[Sequence[Pattern]]:
    """Whether the value is a list."""
    return isinstance(value, list | tuple)


def text_hint(expected: str, got: str) -> str:
    """A hint for different strings that are nearly the same; empty for others."""
    from pytest_fcall.matching.strings import near_miss

    return near_miss(expected, got)


def number_hint(expected: Pattern, got: Json) -> str:
    """A hint for numbers that differ by rounding only; empty for others."""
    try:
        near = is_number(expected) and is_number(got) and math.isclose(expected, got)
    except OverflowError:
        near = False
    return "`$approx` would accept it" if near else ""


def length_hint(expected: Sequence[Pattern], got: Json) -> str:
    """A hint for a list of the wrong length; empty for what is no list."""
    if is_list(got):
        return f"its length is {len(got)}, not {len(expected)}"
    return ""

"""Objects: a call's arguments, and objects inside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.place import Mismatch, Place
from pytest_fcall.matching.wording import value_text
from pytest_fcall.schema.tool_schema import Properties

Compare: TypeAlias = Callable[[Pattern, Json, Place], list[Mismatch]]
"""How values are compared; handed down, since objects and operators nest in one another."""

SCALARS = frozenset({str, int, float, bool, type(None)})
"""The types of plain values that hold no others."""


def compare_object(expected: Mapping[str, Pattern], got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """Compare an object whose keys are all known."""
    if not isinstance(got, Mapping):
        return at.mismatch(expected, got)
    return compare_named(expected, got, at, compare) + compare_unnamed(expected, got, at, compare)


def compare_named(
    expected: Mapping[str, Pattern], got: Mapping[str, Json], at: Place, compare: Compare
) -> list[Mismatch]:
    """Compare the keys that the case names; others are free."""
    found: list[Mismatch] = []
    by_rule = bool(at.ways.rules.match)
    for key, pattern in expected.items():
        given = key in got
        if not by_rule and (_plainly_fits(pattern, got[key]) if given else _allows_omission(pattern)):
            continue
        below = at.child(key)
        wanted = below.wanted(pattern)
        if given:
            mismatches = compare(wanted, got[key], below)
        else:
            mismatches = [Mismatch("missing_argument", below.keys, partial(_missing, below, wanted), wanted)]
        if mismatches and not (_is_silent(key, got, at) and _may_be_left_out(key, wanted, at, below, compare)):
            found.extend(mismatches)
    return found


def compare_unnamed(
    expected: Mapping[str, Pattern], got: Mapping[str, Json], at: Place, compare: Compare
) -> list[Mismatch]:
    """Report the keys that are given though the case does not name them: only what says nothing new may be."""
    found: list[Mismatch] = []
    if len(got) == len(expected) and got.keys() == expected.keys():
        return found
    known = at.properties()
    for key, value in got.items():
        if key in expected:
            continue
        below = at.child(key)
        if below.standing is not None:
            found.extend(compare(below.standing, value, below))
        elif not _says_nothing_new(key, value, known, below, compare):
            found.append(Mismatch("unexpected_argument", below.keys, partial(_unexpected, below, value), None, value))
    return found


def _missing(below: Place, wanted: Pattern) -> str:
    return f"{below.name} is missing, expected {value_text(wanted)}"


def _unexpected(below: Place, value: Json) -> str:
    return f"{below.name} is given as {value_text(value)}, but not expected"


def compare_child(expected: Pattern, got: Json, below: Place, compare: Compare) -> list[Mismatch]:
    """Compare a key's value or an item, by the operator of a `match:` rule where one stands in for it."""
    return compare(below.wanted(expected), got, below)


def _is_silent(key: str, got: Mapping[str, Json], at: Place) -> bool:
    """Whether a key is not there, or is null for want of a word for that.

    Some wires make every optional parameter required and let models say null instead of nothing. Beside a default
    that is something else null is a value like others.
    """
    return key not in got or (got[key] is None and _default(key, at.properties()) is None)


def _default(key: str, known: Properties) -> Json:
    return known.schemas.get(key, {}).get("default")


def _may_be_left_out(key: str, pattern: Pattern, at: Place, below: Place, compare: Compare) -> bool:
    """Whether leaving the key out says what the case expects."""
    if _allows_omission(pattern):
        return True
    properties, required = at.properties()
    if key not in properties or key in required:
        return False
    schema = properties[key]
    if "default" not in schema:
        return pattern is None
    needs_a_value = isinstance(pattern, Operator) and pattern.name == "not"
    return not needs_a_value and not compare(pattern, schema["default"], below)


def _allows_omission(pattern: Pattern) -> bool:
    if not isinstance(pattern, Operator):
        return False
    if pattern.name in ("optional", "ignore"):
        return True
    if pattern.name in ("any", "all") and isinstance(pattern.operand, list | tuple):
        return (any if pattern.name == "any" else all)(map(_allows_omission, pattern.operand))
    return False


def _says_nothing_new(key: str, value: Json, known: Properties, below: Place, compare: Compare) -> bool:
    properties, required = known
    if key not in properties:
        return False
    if value is None and key not in required and _default(key, known) is None:
        return True
    schema = properties[key]
    return "default" in schema and not compare(schema["default"], value, below)


def _plainly_fits(expected: Pattern, got: Json) -> bool:
    """Whether the value itself stands there, alone or among alternatives: most do, and need no closer look."""
    if isinstance(expected, list):
        return type(got) is list and len(got) == len(expected) and all(map(_plainly_fits, expected, got))
    if not isinstance(expected, Operator):
        return type(expected) is type(got) and type(expected) in SCALARS and expected == got
    if expected.name == "any" and isinstance(expected.operand, list | tuple):
        return any(_plainly_fits(alternative, got) for alternative in expected.operand)
    return expected.name == "optional" and _plainly_fits(expected.operand, got)

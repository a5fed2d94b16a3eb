"""The comparison of objects and lists; the comparison of their items is handed in with the place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.place import Mismatch, Place, is_list, length_hint
from pytest_fcall.schema.tool_schema import Properties

_SCALARS = frozenset({str, int, float, bool, type(None)})
"""The types of plain values that hold no others."""
_MAX_COMPARED = 10_000
"""At most so many pairs of values are compared to find that a list has the right items in another order."""


def compare_object(expected: Mapping[str, Pattern], got: Json, place: Place) -> list[Mismatch]:
    """Compare an object all keys of which are expected."""
    if not isinstance(got, Mapping):
        return place.mismatch(expected, got)
    return compare_named(expected, got, place) + compare_unnamed(expected, got, place)


def compare_named(expected: Mapping[str, Pattern], got: Mapping[str, Json], place: Place) -> list[Mismatch]:
    """Compare the keys that the case names; others are allowed."""
    found: list[Mismatch] = []
    has_rules = bool(place.context.rules.match)
    for key, written in expected.items():
        is_given = key in got
        if not has_rules and (_is_plainly_right(written, got[key]) if is_given else _allows_omission(written)):
            continue
        child = place.child(key)
        pattern = child.expected(written)
        if is_given:
            mismatches = child.compare(pattern, got[key])
        else:
            mismatches = [Mismatch("missing_argument", child.path, partial(_missing_text, child, pattern), pattern)]
        if not (_counts_as_omitted(key, got, place) and _may_be_omitted(key, pattern, place, child)):
            found.extend(mismatches)
    return found


def compare_unnamed(expected: Mapping[str, Pattern], got: Mapping[str, Json], place: Place) -> list[Mismatch]:
    """Report the given keys that the case does not name, unless they repeat a default of the schema."""
    found: list[Mismatch] = []
    if got.keys() == expected.keys():
        return found
    known = place.properties()
    for key, value in got.items():
        if key in expected:
            continue
        child = place.child(key)
        if child.rule_operator is not None:
            found.extend(child.compare(child.rule_operator, value))
        elif not _repeats_default(key, value, known, child):
            message = partial(_unexpected_text, child, value)
            found.append(Mismatch("unexpected_argument", child.path, message, None, value))
    return found


def compare_list(expected: Sequence[Pattern], got: Json, place: Place) -> list[Mismatch]:
    """Compare a list whose items and order are expected."""
    if not isinstance(got, list | tuple) or len(got) != len(expected):
        return place.mismatch(expected, got, length_hint(expected, got))
    has_rules = bool(place.context.rules.match)
    found = [
        mismatch
        for index, (pattern, item) in enumerate(zip(expected, got, strict=True))
        if has_rules or not _are_same_scalars(pattern, item)
        for mismatch in place.child(index).compare_by_rule(pattern, item)
    ]
    if found and _comparison_count(expected) <= _MAX_COMPARED and _has_in_any_order(expected, got, place):
        return place.mismatch(expected, got, "the same items in another order: `$unordered` would accept it")
    return found


def compare_in_any_order(
    whole: Pattern, expected: Sequence[Pattern], got: Sequence[Json], place: Place
) -> list[Mismatch]:
    """Find an item of its own for every expected item; the list may have more. `whole` is what a mismatch shows."""
    fits: list[list[int]] = []
    unmatched: list[Pattern] = []
    undecided: list[Mismatch] = []
    for pattern, tried in _tries(expected, got, place):
        fits.append(_fitting(tried))
        if not fits[-1]:
            unmatched.append(pattern)
        undecided += [each for found in tried for each in found if each.undecided]
    if _has_assignment(fits):
        return []
    return undecided or place.mismatch(whole, got, partial(_no_item_hint, unmatched))


def _has_in_any_order(expected: Sequence[Pattern], got: Sequence[Json], place: Place) -> bool:
    """Whether there is an item of its own for every expected item.

    The first that fits none decides: in lists of lists, further ones would multiply with those of each level below.
    """
    fits: list[list[int]] = []
    for _, tried in _tries(expected, got, place):
        fits.append(_fitting(tried))
        if not fits[-1]:
            return False
    return _has_assignment(fits)


def _tries(
    expected: Sequence[Pattern], got: Sequence[Json], place: Place
) -> Iterator[tuple[Pattern, list[list[Mismatch]]]]:
    """Compare expected items, one by one, with every item."""
    wanted, items = (expected, got) if place.context.rules.match else _without_equal_items(expected, got)
    children = [place.child(index) for index in range(len(items))]
    for pattern in wanted:
        yield pattern, [child.compare_by_rule(pattern, item) for item, child in zip(items, children, strict=True)]


def _fitting(tried: Sequence[list[Mismatch]]) -> list[int]:
    return [index for index, found in enumerate(tried) if not found]


def _has_assignment(fits: Sequence[Sequence[int]]) -> bool:
    from pytest_fcall.matching.assignment import covering_assignment

    return covering_assignment([(1, 1)] * len(fits), fits, ()) is not None


def _is_plainly_right(expected: Pattern, got: Json) -> bool:
    """Whether the value equals the expected one, or one of its alternatives: most do, and need no closer look."""
    if isinstance(expected, list):
        return type(got) is list and len(got) == len(expected) and all(map(_is_plainly_right, expected, got))
    if not isinstance(expected, Operator):
        return _are_same_scalars(expected, got)
    if expected.name == "any" and isinstance(expected.operand, list | tuple):
        return any(_is_plainly_right(alternative, got) for alternative in expected.operand)
    return expected.name == "optional" and _is_plainly_right(expected.operand, got)


def _are_same_scalars(expected: Pattern, got: Json) -> bool:
    return type(expected) is type(got) and type(expected) in _SCALARS and expected == got


def _allows_omission(pattern: Pattern) -> bool:
    if not isinstance(pattern, Operator):
        return False
    if pattern.name in ("optional", "ignore"):
        return True
    if pattern.name in ("any", "all") and isinstance(pattern.operand, list | tuple):
        return (any if pattern.name == "any" else all)(map(_allows_omission, pattern.operand))
    return False


def _counts_as_omitted(key: str, got: Mapping[str, Json], place: Place) -> bool:
    """Whether a key is absent, or null because the model could not leave it out.

    Some wire formats make every optional parameter required, so that models write null. If the schema has another
    default, null is a value like others.
    """
    return key not in got or (got[key] is None and _default(key, place.properties()) is None)


def _default(key: str, known: Properties) -> Json:
    return known.schemas.get(key, {}).get("default")


def _may_be_omitted(key: str, pattern: Pattern, place: Place, child: Place) -> bool:
    """Whether leaving the key out means what the case expects."""
    if _allows_omission(pattern):
        return True
    properties, required = place.properties()
    if key not in properties or key in required:
        return False
    schema = properties[key]
    if "default" not in schema:
        return pattern is None
    needs_a_value = isinstance(pattern, Operator) and pattern.name == "not"
    return not needs_a_value and not child.compare(pattern, schema["default"])


def _repeats_default(key: str, value: Json, known: Properties, child: Place) -> bool:
    """Whether a given key means the same as leaving it out."""
    properties, required = known
    if key not in properties:
        return False
    if value is None and key not in required and _default(key, known) is None:
        return True
    schema = properties[key]
    return "default" in schema and not child.compare(schema["default"], value)


def _missing_text(place: Place, expected: Pattern) -> str:
    return f"{place.name} is missing, expected {_value_text(expected)}"


def _unexpected_text(place: Place, value: Json) -> str:
    return f"{place.name} is given as {_value_text(value)}, but not expected"


def _no_item_hint(unmatched: Sequence[Pattern]) -> str:
    return f"no item matches {' or '.join(map(_value_text, unmatched[:3]))}" if unmatched else ""


def _value_text(value: Pattern) -> str:
    from pytest_fcall.matching.wording import value_text

    return value_text(value)


def _comparison_count(expected: Pattern) -> int:
    """The largest number of comparisons if every list may be in another order: nested lists multiply."""
    if isinstance(expected, Operator):
        return _comparison_count(expected.operand)
    if isinstance(expected, Mapping):
        return sum(map(_comparison_count, expected.values()), 1)
    if is_list(expected) and expected:
        return len(expected) * (len(expected) + 1) * max(map(_comparison_count, expected))
    return 1


def _without_equal_items(expected: Sequence[Pattern], got: Sequence[Json]) -> tuple[Sequence[Pattern], Sequence[Json]]:
    """Leave out the items that are equal on both sides, if only plain values are expected.

    An operator might need the very item that a plain value could do without.
    """
    if not all(type(pattern) in _SCALARS for pattern in expected):
        return expected, got
    both = Counter(map(_scalar_key, expected)) & Counter(_scalar_key(item) for item in got if type(item) in _SCALARS)
    return _without(expected, both.copy()), _without(got, both)


_Item = TypeVar("_Item")


def _without(items: Sequence[_Item], counts: Counter[tuple[type, object]]) -> list[_Item]:
    left = []
    for item in items:
        if type(item) in _SCALARS and counts[_scalar_key(item)]:
            counts[_scalar_key(item)] -= 1
        else:
            left.append(item)
    return left


def _scalar_key(scalar: object) -> tuple[type, object]:
    """Tells 1, 1.0 and true apart."""
    return type(scalar), scalar

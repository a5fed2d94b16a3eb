"""The state of an environment against what a case expects of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeGuard

from pytest_fcall.core.environment import Executed
from pytest_fcall.core.pattern import Pattern
from pytest_fcall.core.rules import Rules
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason
from pytest_fcall.matching.mismatch import Keys, Mismatch
from pytest_fcall.matching.objects import compare_named
from pytest_fcall.matching.outside_calls import mismatches
from pytest_fcall.matching.place import Place
from pytest_fcall.matching.values import compare
from pytest_fcall.schema.changes import changes, json_text
from pytest_fcall.schema.words import nearest, path_text

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator

_ROOT = "state"


def judge_state(
    expected: Mapping[str, Pattern], state: Executed, rules: Rules, comparators: Mapping[str, Comparator]
) -> tuple[Reason, ...]:
    """Compare the attributes that are named; others are free. What stands inside them must be just that.

    Every reason is a `wrong_state` with a path such as `state.orders[0].status`.
    """
    if state.error is not None:
        return (Reason("wrong_state", _ROOT, f"The state cannot be read: {state.error[:500]}", expected),)
    found = mismatches(expected, state.value, (_ROOT,), rules, comparators, _attributes)
    return tuple(
        Reason("wrong_state", path_text(each.keys), f"{each.tell()}{_hint(each, state.value)}", each.expected, each.got)
        for each in found
    )


def state_difference(expected: Mapping[str, Pattern], state: Json) -> list[str]:
    """Say what became of the attributes that are expected outright, a line each: `state.balance: 12 → 7`.

    Attributes with an operator anywhere inside are left out, since nobody can say what they should have become.
    """
    if not isinstance(state, Mapping):
        return []
    plain = {name: value for name, value in expected.items() if _is_plain(value)}
    there = {name: state[name] for name in plain if name in state}
    return changes(plain, there, (_ROOT,))


def _attributes(expected: Pattern, got: Json, at: Place) -> list[Mismatch]:
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        return compare_named(expected, got, at, compare)
    return at.mismatch(expected, got)


def _is_plain(pattern: Pattern) -> TypeGuard[Json]:
    return json_text(pattern) is not None


def _hint(mismatch: Mismatch, state: Json) -> str:
    """Name the attribute or key that was probably meant, where the one that is expected is not there."""
    if mismatch.kind != "missing_argument":
        return ""
    *above, name = mismatch.keys[1:]
    around = _reached(state, tuple(above))
    near = nearest(name, around) if isinstance(around, Mapping) else None
    return f"; did you mean `{near}`?" if near else ""


def _reached(value: Json, keys: Keys) -> Json:
    """Go down to a value; null where there is none, as inside JSON that travels as text."""
    for key in keys:
        if isinstance(value, Mapping) and key in value:
            value = value[str(key)]
        elif isinstance(value, list | tuple) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value

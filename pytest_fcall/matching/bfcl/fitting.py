"""Whether a value is of the right type."""

from __future__ import annotations

from typing import Any

from pytest_fcall.matching.bfcl.ruling import Objection, objection, written


def first_type(alternatives: Any) -> type | None:
    """Give the type of the first alternative; the mark for what may be left out is none."""
    for alternative in alternatives:
        if alternative != "":
            return type(alternative)
    return None


def misfit(
    name: str, value: Any, alternatives: Any, declared: type, inner: type | None, meant: type | None
) -> Objection:
    """Check a value's exact type, and those of its items where `inner` is given; deeper down nothing is checked."""
    given = type(value)
    if given is declared:
        if inner is None or _items_fit(value, alternatives, inner):
            return None
        message = f"`{name}` holds an item that is no {inner.__name__}: {written(value)}"
        # The type of the first alternative would have excused the value as a whole.
        return objection("type_error:nested" if meant is declared else "type_error:simple", message, argument=name)
    if given is meant:
        return None
    message = f"`{name}` is of type {given.__name__}, not {declared.__name__}: {written(value)}"
    return objection("type_error:simple", message, argument=name)


def _items_fit(value: Any, alternatives: Any, inner: type) -> bool:
    """Check items against any one alternative. One that is no list, such as the mark for omission, excuses them all."""
    return any(type(answer) is not list or _all_fit(value, answer, inner) for answer in alternatives)


def _all_fit(items: Any, answer: list[Any], inner: type) -> bool:
    meant = first_type(answer)
    for item in items:
        if type(item) is not inner and (meant is None or type(item) is not meant):
            written(item)  # breaks where the official checker, which writes out each misfit, does
            return False
    return True

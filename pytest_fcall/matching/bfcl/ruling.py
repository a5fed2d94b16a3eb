"""Rulings of the official checker."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Ruling(NamedTuple):
    """Valid or not, the official name of the error, and our sentences about it.

    Where the official checker raises an exception, `error_type` is `case_error:` with its name. The last fields locate
    the error: the argument, the pairs of expected and made calls before it, and for an expected call without a match
    the rejected calls by index.
    """

    valid: bool
    error_type: str | None = None
    errors: tuple[str, ...] = ()
    argument: str | None = None
    pairs: tuple[tuple[int, int], ...] = ()
    rejected: tuple[tuple[int, Ruling], ...] = ()


Objection: TypeAlias = Ruling | None
"""A ruling with an error, or None."""

VALID = Ruling(True)

_LONGEST = 200


def objection(error_type: str, *errors: str, argument: object = None) -> Ruling:
    """A ruling with an error."""
    return Ruling(False, error_type, errors, argument if isinstance(argument, str) else None)


def short_repr(value: object) -> str:
    """The beginning of the `repr` of a value, which is written in full: where it fails, the official checker does."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

"""What the official checker says."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Ruling(NamedTuple):
    """Valid or not, the official name of the error, and what is wrong in our words.

    What the official checker breaks on is `case_error:` and the exception. The last fields say where the error is:
    the argument, the calls paired before it, and for a call that was not found what is wrong with each call left, by
    index.
    """

    valid: bool
    error_type: str | None = None
    errors: tuple[str, ...] = ()
    argument: str | None = None
    pairs: tuple[tuple[int, int], ...] = ()
    tried: tuple[tuple[int, Ruling], ...] = ()


Objection: TypeAlias = Ruling | None
"""What is wrong, or nothing."""

VALID = Ruling(True)

_LONGEST = 200


def objection(error_type: str, *errors: str, argument: object = None) -> Ruling:
    """Say that something is wrong."""
    return Ruling(False, error_type, errors, argument if isinstance(argument, str) else None)


def short_repr(value: object) -> str:
    """Write a value out, and cut it after that: the official checker breaks on what Python cannot write whole."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

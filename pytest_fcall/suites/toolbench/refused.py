"""What an API says to a call that breaks its rules."""

from __future__ import annotations


class Refused(Exception):
    """The call cannot be made, or not now. The text says why."""


def check(holds: bool, why: str) -> None:
    """Raise Refused where a rule does not hold."""
    if not holds:
        raise Refused(why)

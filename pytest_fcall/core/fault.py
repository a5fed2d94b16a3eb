"""Mistakes a person made, with the place to mend them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file; lines and columns count from one."""

    path: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Fault:
    """One mistake: where, what is wrong, and what to do about it."""

    code: str
    """A stable short name, such as `unknown-tool`; the documentation explains each."""
    location: Location
    message: str
    source: str = ""
    """The offending line."""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FaultyCase:
    """A case that cannot be run; it still becomes an item, which errors."""

    id: str
    location: Location
    faults: tuple[Fault, ...]

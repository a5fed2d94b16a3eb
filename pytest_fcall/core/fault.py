"""Mistakes in case files, with the place to correct them."""

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
    """One mistake: where it is, what is wrong, and how to correct it."""

    code: str
    """A stable short name, such as `unknown-tool`, under which the documentation explains the mistake."""
    location: Location
    message: str
    source: str = ""
    """The line with the mistake."""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FaultyCase:
    """A case that cannot be run. It becomes an item that ends in an error."""

    id: str
    location: Location
    faults: tuple[Fault, ...]

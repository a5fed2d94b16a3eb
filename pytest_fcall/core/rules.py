"""How strictly values are compared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from pytest_fcall.core.expectation import CallPattern
from pytest_fcall.core.pattern import Operator

Strings: TypeAlias = Literal["exact", "relaxed", "bfcl"]
Profile: TypeAlias = Literal["strict", "bfcl"]
Language: TypeAlias = Literal["python", "java", "javascript"]


@dataclass(frozen=True, slots=True)
class MatchRule:
    """A rule for the parameters that `path` names, a glob such as `*.city` or `book.seat`.

    Either `operator` stands in for a plain value that the case expects there, or `strings` says how strings compare.
    An operator that the case writes itself goes first.
    """

    path: str
    operator: Operator | None = None
    strings: Strings | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything that matching needs to know beside the expectation and the tools."""

    profile: Profile = "strict"
    strings: Strings = "exact"
    match: tuple[MatchRule, ...] = ()
    never: tuple[CallPattern, ...] = ()
    now: datetime | None = None
    """The case's clock, for `$date` and `$datetime`."""
    language: Language = "python"
    """For the `bfcl` profile: whose literals the arguments are. Those of Java and JavaScript are source text."""

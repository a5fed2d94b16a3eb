"""What is wrong with an argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pytest_fcall.core import Json

FindingKind: TypeAlias = Literal["missing_argument", "unexpected_argument", "wrong_type", "schema"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which arguments break their schema. `message` is a sentence for people."""

    kind: FindingKind
    path: tuple[str | int, ...]
    message: str
    expected: Json = None
    """What the schema asks for: type names, the allowed values, a bound. None where it is a name that is missing."""
    got: Json = None

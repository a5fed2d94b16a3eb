"""What an argument may be: plain values with operators anywhere inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Operator:
    """`{$name: operand, option: …}` of a case file."""

    name: str
    """Without the dollar sign."""
    operand: Pattern = None
    options: Mapping[str, Pattern] = field(default_factory=dict)


Pattern: TypeAlias = "bool | int | float | str | Sequence[Pattern] | Mapping[str, Pattern] | Operator | None"
"""An expected value. Without an Operator inside, it is the value itself."""

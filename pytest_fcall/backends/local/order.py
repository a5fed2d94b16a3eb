"""What the answering process is started with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fcall.backends.fields import as_mapping, required
from pytest_fcall.core import Json


@dataclass(frozen=True, slots=True)
class Order:
    """Which model answers, and how. Equal orders are answered by one process."""

    maker: str
    """The module:function that loads it: takes the options, returns an Answerer."""
    options: Mapping[str, Json] = field(default_factory=dict)
    batch: int = 16

    def to_data(self) -> dict[str, Json]:
        """Say it in JSON values."""
        return {"maker": self.maker, "options": self.options, "batch": self.batch}


def order_from_data(data: Json) -> Order:
    """Read what `to_data` wrote. Raises Damaged."""
    fields = as_mapping(data, "the order")
    return Order(required(fields, "maker", str), required(fields, "options", dict), required(fields, "batch", int))

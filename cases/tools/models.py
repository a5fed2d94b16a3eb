"""A tool as a Pydantic model: its fields are the arguments."""

from __future__ import annotations

from enum import Enum

from pydantic import BaseModel, Field


class Stars(Enum):
    """A rating."""

    BAD = 1
    FAIR = 2
    GOOD = 3


class RateProduct(BaseModel):
    """Rate a product of the shop."""

    product: str = Field(description="Name of the product")
    stars: Stars = Field(description="1 is bad, 3 is good")

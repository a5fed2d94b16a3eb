"""What the service can do, as Pydantic models: fields, types and docstrings are what the model is told."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

Day = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


class BookTable(BaseModel):
    """Book a table in the restaurant."""

    guests: int = Field(ge=1, le=12, description="How many people.")
    day: Day


class CancelBooking(BaseModel):
    """Cancel a booking by its number."""

    number: int = Field(ge=1)


class OpeningHours(BaseModel):
    """Tell the opening hours of a day."""

    day: Day


TOOLS = [BookTable, CancelBooking, OpeningHours]

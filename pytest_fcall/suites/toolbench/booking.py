"""The booking of trips and hotels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from pytest_fcall.suites.toolbench.refused import Refused, check

_TRIP = ("means_of_transportation", "location_from", "location_to")
_STAY = ("location", "checkin_date", "checkout_date")
_NEEDED: Mapping[object, tuple[str, ...]] = MappingProxyType(
    {"trip tickets": (*_TRIP, "departure_date"), "hotels": _STAY, "both": (*_TRIP, *_STAY)}
)


@dataclass(frozen=True, slots=True)
class Loc:
    """A place."""

    location: object


@dataclass(frozen=True, slots=True)
class Date:
    """A day, as it is written: `"05"` is not 5."""

    month: object
    day: object
    year: object


class Booking:
    """What is booked first, then all else in any order; `criteria` is the state."""

    setters: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "set_min_ticket_price": "min_price_ticket",
            "set_max_ticket_price": "max_price_ticket",
            "set_min_room_price": "min_price_room",
            "set_max_room_price": "max_price_room",
            "set_num_adults": "num_adults",
            "set_num_children": "num_children",
            "set_num_rooms": "num_rooms",
            "select_room_type": "room_type",
            "set_origin": "location_from",
            "set_destination": "location_to",
            "set_hotel_location": "location",
            "set_departure_date": "departure_date",
            "set_return_date": "return_date",
            "set_checkin_date": "checkin_date",
            "set_checkout_date": "checkout_date",
        }
    )
    methods: ClassVar = frozenset({"select_booking_type", "select_transportation", "search", "clear"})

    def __init__(self) -> None:
        self.criteria: dict[str, object] = {}

    def set(self, key: str, /, value: object) -> None:
        """Set a criterion; places are Locs, and days are Dates."""
        if key.startswith("location"):
            if not isinstance(value, Loc):
                raise Refused(f"`{key}` is to be a Loc")
            value = value.location
        if key.endswith("_date"):
            if not isinstance(value, Date):
                raise Refused(f"`{key}` is to be a Date")
            value = f"{value.month}-{value.day}-{value.year}"
        self.criteria[key] = value

    def select_booking_type(self, booking_type: object) -> None:
        """Say what is booked."""
        check(booking_type in ("hotels", "trip tickets", "both"), f"{booking_type!r:.40} cannot be booked")
        check(not self.criteria, "what is booked is to be chosen first")
        self.criteria["booking_type"] = booking_type

    def select_transportation(self, transportation_type: object) -> None:
        """Say how to travel."""
        known = ("flight", "train", "bus", "cruise")
        check(transportation_type in known, f"nobody can travel by {transportation_type!r:.40}")
        self.criteria["means_of_transportation"] = transportation_type

    def search(self) -> None:
        """Fill in what was left out, and see that nothing is missing."""
        booked = self.criteria.get("booking_type")
        check(booked in _NEEDED, "what is booked is to be chosen first")
        for key in _NEEDED[booked]:
            check(key in self.criteria, f"`{key}` is not set")
        filled: dict[str, object] = {"min_price_ticket": 0, "min_price_room": 0}
        if booked != "trip tickets":
            filled["num_rooms"] = 1
        if booked == "both":
            filled["departure_date"] = self.criteria["checkin_date"]
            filled["return_date"] = self.criteria["checkout_date"]
        self.criteria = {**filled, **self.criteria}

    def clear(self) -> None:
        """Begin anew."""
        self.criteria = {}

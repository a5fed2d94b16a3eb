"""The APIs that programs call: booking and home search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar


class CallRefused(Exception):
    """A call breaks a rule of the API. The text says which."""


def require(holds: bool, why: str) -> None:
    """Raise CallRefused if a rule does not hold."""
    if not holds:
        raise CallRefused(why)


_TYPE_FIRST = "call select_booking_type first"
_TRIP = ("means_of_transportation", "location_from", "location_to")
_STAY = ("location", "checkin_date", "checkout_date")
_NEEDED: Mapping[object, tuple[str, ...]] = MappingProxyType(
    {"trip tickets": (*_TRIP, "departure_date"), "hotels": _STAY, "both": (*_TRIP, *_STAY)}
)


@dataclass(frozen=True, slots=True)
class Loc:
    """A place. The name of this class appears in messages of Python, and so in verdicts."""

    location: object


@dataclass(frozen=True, slots=True)
class Date:
    """A day, as it is written: `"05"` differs from 5."""

    month: object
    day: object
    year: object


class Booking:
    """Booking of hotels and trips. The booking type comes first, all else in any order; `criteria` is the state."""

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
        """Set a criterion. Places must be Locs, and days Dates."""
        if key.startswith("location"):
            if not isinstance(value, Loc):
                raise CallRefused(f"`{key}` must be a Loc")
            value = value.location
        if key.endswith("_date"):
            if not isinstance(value, Date):
                raise CallRefused(f"`{key}` must be a Date")
            value = f"{value.month}-{value.day}-{value.year}"
        self.criteria[key] = value

    def select_booking_type(self, booking_type: object) -> None:
        """Choose hotels, trip tickets, or both."""
        require(booking_type in ("hotels", "trip tickets", "both"), f"{booking_type!r:.40} cannot be booked")
        require(not self.criteria, _TYPE_FIRST)
        self.criteria["booking_type"] = booking_type

    def select_transportation(self, transportation_type: object) -> None:
        """Choose the means of transportation."""
        known = ("flight", "train", "bus", "cruise")
        require(transportation_type in known, f"{transportation_type!r:.40} is not a means of transportation")
        self.criteria["means_of_transportation"] = transportation_type

    def search(self) -> None:
        """Check that nothing is missing, and fill in defaults."""
        booked = self.criteria.get("booking_type")
        require(booked in _NEEDED, _TYPE_FIRST)
        for key in _NEEDED[booked]:
            require(key in self.criteria, f"`{key}` is not set")
        filled: dict[str, object] = {"min_price_ticket": 0, "min_price_room": 0}
        if booked != "trip tickets":
            filled["num_rooms"] = 1
        if booked == "both":
            filled["departure_date"] = self.criteria["checkin_date"]
            filled["return_date"] = self.criteria["checkout_date"]
        self.criteria = {**filled, **self.criteria}

    def clear(self) -> None:
        """Remove all criteria."""
        self.criteria = {}


_HOME_TYPES: Mapping[object, frozenset[str]] = MappingProxyType(
    {
        "buy": frozenset({"house", "townhouse", "condo", "land", "multi-family", "mobile", "co-op"}),
        "rent": frozenset({"house", "townhouse", "condo", "apartment"}),
    }
)


class HomeSearch:
    """Search for homes. The location comes first, then buying or renting, then all else; `criteria` is the state."""

    setters: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            f"set_{name}": name
            for name in (
                *("max_price", "min_price", "max_square_feet", "min_square_feet", "num_baths", "num_beds"),
                *("num_garages", "num_swimming_pools", "num_balconies", "floor_number", "max_commute_time"),
            )
        }
    )
    methods: ClassVar = frozenset({"set_location", "set_buy_or_rent", "select_home_type", "search", "clear"})

    def __init__(self) -> None:
        self.criteria: dict[str, object] = {}

    def set(self, key: str, /, value: object) -> None:
        """Set a criterion that has no rules of its own."""
        require("buy_or_rent" in self.criteria, "call set_buy_or_rent before other criteria")
        self.criteria[key] = value

    def set_location(self, value: object) -> None:
        """Set the location."""
        require(not self.criteria, "call set_location before other criteria")
        self.criteria["location"] = value

    def set_buy_or_rent(self, value: object) -> None:
        """Choose buying or renting."""
        require(value in ("buy", "rent"), "expected `buy` or `rent`")
        require(list(self.criteria) == ["location"], "call set_buy_or_rent after set_location, before all else")
        self.criteria["buy_or_rent"] = value

    def select_home_type(self, home_types: object) -> None:
        """Choose the types of homes. The available ones depend on buying or renting."""
        if not isinstance(home_types, str | list | tuple | dict):
            raise CallRefused("home types must be a list")
        known = _HOME_TYPES.get(self.criteria.get("buy_or_rent"), frozenset())
        types = sorted(each.lower() if isinstance(each, str) else "" for each in home_types)
        require(known.issuperset(types), f"home types must be from: {', '.join(sorted(known)) or '(none yet)'}")
        self.criteria["home_type"] = ",".join(types)

    def search(self) -> None:
        """Fill in defaults."""
        self.criteria = {"min_price": 0, "min_square_feet": 0, **self.criteria}

    def clear(self) -> None:
        """Remove all criteria."""
        self.criteria = {}

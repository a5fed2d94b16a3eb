"""The search for homes: criteria, in an order that matters at the start."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from pytest_fcall.suites.toolbench.refused import Refused, check

_TYPES: Mapping[object, frozenset[str]] = MappingProxyType(
    {
        "buy": frozenset({"house", "townhouse", "condo", "land", "multi-family", "mobile", "co-op"}),
        "rent": frozenset({"house", "townhouse", "condo", "apartment"}),
    }
)


class HomeSearch:
    """Location first, then buying or renting, then all else; `criteria` is the state."""

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
        check("buy_or_rent" in self.criteria, "buying or renting is to be chosen before other criteria")
        self.criteria[key] = value

    def set_location(self, value: object) -> None:
        """Say where."""
        check(not self.criteria, "the location is to be set before other criteria")
        self.criteria["location"] = value

    def set_buy_or_rent(self, value: object) -> None:
        """Say whether to buy or to rent."""
        check(value in ("buy", "rent"), "`buy` and `rent` can be chosen")
        check(list(self.criteria) == ["location"], "the location is to be set before, and all else after")
        self.criteria["buy_or_rent"] = value

    def select_home_type(self, home_types: object) -> None:
        """Choose kinds of homes; which there are depends on whether they are bought."""
        if not isinstance(home_types, str | list | tuple | dict):
            raise Refused("home types are a list")
        known = _TYPES.get(self.criteria.get("buy_or_rent"), frozenset())
        types = sorted(each.lower() if isinstance(each, str) else "" for each in home_types)
        check(known.issuperset(types), f"of these, only {', '.join(sorted(known)) or 'none'} can be chosen now")
        self.criteria["home_type"] = ",".join(types)

    def search(self) -> None:
        """Fill in what was left out."""
        self.criteria = {"min_price": 0, "min_square_feet": 0, **self.criteria}

    def clear(self) -> None:
        """Begin anew."""
        self.criteria = {}

"""A plain module: its functions are tools, its public attributes are the state."""

from __future__ import annotations

import json
import os as system
from dataclasses import dataclass
from json import dumps
from pathlib import Path

from pytest_fcall.core import Tool

stock = {"pear": 3}
sold: list[str] = []
_till = 0


@dataclass
class Prices:
    pear: float = 1.5


prices = Prices()


def buy(fruit: str) -> dict[str, int]:
    """Buy one fruit."""
    if not stock.get(fruit):
        raise LookupError(f"there is no {fruit}")
    stock[fruit] -= 1
    sold.append(fruit)
    return {"left": stock[fruit]}


async def price(fruit: str) -> float:
    """What a fruit costs."""
    return float(getattr(prices, fruit))


class Desk:
    def book(self, seat: str) -> str:
        """Book a seat."""
        return seat

    @staticmethod
    def hours() -> str:
        """When the desk is open."""
        return "9 to 5"


def _hidden() -> str:
    return json.dumps({"home": system.sep}) + dumps(str(Path()))


TOOLS = [buy, Tool("written_out")]

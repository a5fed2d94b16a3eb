"""The tools of a shop as plain Python: signature, type hints and docstring say what a model is told."""

from __future__ import annotations

from typing import Literal, TypedDict


class Address(TypedDict):
    """Where a parcel goes."""

    street: str
    city: str


class Item(TypedDict):
    """One line of an order."""

    name: str
    count: int


def find_products(query: str, max_price: float | None = None) -> list[str]:
    """Find products in the shop.

    Args:
        query: What to look for.
        max_price: The highest price.
    """
    return [f"{query} for {max_price or 9.99}"]


def add_to_cart(product: str, count: int = 1) -> str:
    """Add a product to the cart.

    Args:
        product: Name of the product.
        count: How many.
    """
    return f"{count} x {product}"


def choose_shipping(speed: Literal["standard", "express"]) -> str:
    """Choose how fast the parcel comes.

    Args:
        speed: How fast.
    """
    return speed


def set_address(address: Address) -> str:
    """Set the address of the customer.

    Args:
        address: Where the parcel goes.
    """
    return address["city"]


def order(items: list[Item]) -> int:
    """Order items.

    Args:
        items: The items to order.
    """
    return sum(item["count"] for item in items)

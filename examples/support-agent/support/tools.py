"""What the agent can do. Names, types and docstrings are what the model is told."""

from __future__ import annotations

from typing import Literal

from langchain.tools import tool

from support.shop import shop


@tool
def order_status(order: str) -> str:
    """Tell how far an order is."""
    return shop().status(order)


@tool
def cancel_order(order: str) -> str:
    """Cancel an order."""
    return shop().cancel(order)


@tool
def change_address(order: str, city: str) -> str:
    """Send an order to another city."""
    return shop().send_to(order, city)


@tool
def open_ticket(topic: Literal["damage", "invoice", "other"]) -> str:
    """Open a ticket for a person of the support team."""
    return shop().open_ticket(topic)


TOOLS = [order_status, cancel_order, change_address, open_ticket]

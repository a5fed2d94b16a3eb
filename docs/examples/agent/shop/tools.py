"""What the agent can do."""

from __future__ import annotations

from typing import Literal

ORDERS = {"A17": ("anna", "shipped"), "A18": ("anna", "open"), "B4": ("bo", "open")}


def find_orders(customer: str) -> list[str]:
    """List the orders of a customer.

    Args:
        customer: The customer's name, in lower case.
    """
    return [order for order, (owner, _) in ORDERS.items() if owner == customer]


def order_status(order: str) -> str:
    """Tell how far an order is."""
    return ORDERS[order][1] if order in ORDERS else "unknown order"


def cancel_order(order: str, reason: Literal["customer", "stock"] = "customer") -> str:
    """Cancel an order that is not shipped yet."""
    status = order_status(order)
    return f"cancelled for {reason}" if status == "open" else f"not cancelled: {status}"


TOOLS = {function.__name__: function for function in (find_orders, order_status, cancel_order)}

"""The shop behind the tools. In real life this is a database."""

from __future__ import annotations

from functools import cache


class Shop:
    """Orders and tickets."""

    def __init__(self) -> None:
        self.orders = {"A17": "shipped", "A18": "open", "B4": "open"}
        self.tickets: list[str] = []

    def status(self, order: str) -> str:
        """How far an order is, in words."""
        return f"The order {order} is {self.orders.get(order, 'unknown')}."

    def cancel(self, order: str) -> str:
        """Cancel an order that is still open."""
        if self.orders.get(order) != "open":
            return f"The order {order} cannot be cancelled: it is {self.orders.get(order, 'unknown')}."
        self.orders[order] = "cancelled"
        return f"The order {order} is cancelled."

    def send_to(self, order: str, city: str) -> str:
        """Send an order that is still open to another city."""
        if self.orders.get(order) != "open":
            return f"The order {order} cannot be changed: it is {self.orders.get(order, 'unknown')}."
        return f"The order {order} will be sent to {city}."

    def open_ticket(self, topic: str) -> str:
        """Open a ticket."""
        self.tickets.append(topic)
        return f"Ticket {len(self.tickets)} is open. Somebody will write to you today."


@cache
def shop() -> Shop:
    """The shop of this process."""
    return Shop()

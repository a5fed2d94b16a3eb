"""A shop whose customers are helped by an agent."""

"""Costs: token estimates, prices in US dollars, and the budget of `--fc-max-cost`."""

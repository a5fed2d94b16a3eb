"""How much of what a model writes is still read, whatever its language."""

from __future__ import annotations

DEEPEST = 100
"""Levels of nesting; real arguments have a handful."""
MOST_BITS = 14_000
"""Of a whole number: about as many digits as Python reads and writes."""
TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"
TOO_LONG = "it holds a whole number of thousands of digits"

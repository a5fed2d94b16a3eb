"""How much of what a model writes is still read, whatever its language."""

from __future__ import annotations

DEEPEST = 100
"""Levels of nesting; real arguments have a handful."""
TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"

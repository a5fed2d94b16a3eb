"""What is raised where something cannot be read."""

from __future__ import annotations


class Unreadable(ValueError):
    """The text says why, without a full stop."""

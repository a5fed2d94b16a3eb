"""Output that the official decoders cannot read."""

from __future__ import annotations


class Undecodable(ValueError):
    """The text says why, without a full stop."""

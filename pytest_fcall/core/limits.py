"""Limits on integers in text from models and files."""

from __future__ import annotations

from typing import Final

MAX_INTEGER_BITS: Final = 14_000
"""The size of an integer: about as many digits as Python reads and writes."""
HUGE_INTEGER: Final = "it contains an integer with thousands of digits"
"""The fault of a text with a larger one."""

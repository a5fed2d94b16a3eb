"""Limits on what is read of text from models and files."""

from __future__ import annotations

from typing import Final

MAX_INTEGER_BITS: Final = 14_000
"""The size of an integer: about as many digits as Python reads and writes."""
HUGE_INTEGER: Final = "it contains an integer with thousands of digits"
"""The fault of a text with a larger one."""
MAX_CALLS: Final = 10_000
"""The most calls that are read in one reply."""
TOO_MANY_CALLS: Final = f"There are more than {MAX_CALLS:,} calls; the others were not read."
"""The fault of a reply with more."""
MAX_DECODED_TEXT: Final = 1_000_000
"""The most characters in which calls are looked for. The slowest decoder takes five seconds for them."""

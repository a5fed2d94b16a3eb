"""Regular expressions of what differs each time in requests, as settings and case files name them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from pytest_fcall.core.regular_expression import compiled_expression

LONGEST_SECONDS: Final = 1.0
"""The time limit for all patterns on one request. One with nested repeats could take years."""
_LONGEST: Final = 1_000


class VolatileError(ValueError):
    """A pattern that cannot be used, or takes too long on a request. The text is for people."""


@lru_cache(maxsize=256)
def compiled_pattern(pattern: str) -> Any:
    """The expression, of the library `regex`. Raises VolatileError if it is not valid, or matches where nothing is."""
    if len(pattern) > _LONGEST:
        raise VolatileError(f"a pattern must not be longer than {_LONGEST:,} characters")
    try:
        expression = compiled_expression(pattern)
        matches_nothing = expression.search("", timeout=LONGEST_SECONDS)
    except TimeoutError:
        raise VolatileError(f"{pattern!r} takes too long; write it without repeats inside repeats") from None
    except ValueError as error:
        raise VolatileError(f"{pattern!r} {error}") from None
    if matches_nothing:
        raise VolatileError(f"{pattern!r} also matches where nothing is, and so everywhere")
    return expression

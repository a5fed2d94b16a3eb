"""The parts of requests that differ each time, such as a date in a prompt: patterns that are left out of their keys."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pytest_fcall.core.bounded_text import VOLATILE_SECONDS, VolatileError, compiled_pattern
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from re import Pattern

_STANDS_FOR: Final = "\x00volatile\x00"
"""Takes the place of what a pattern matches; no text of a prompt has it."""
_MOST_KEPT: Final = 20
"""So many different texts that were left out are kept of a request, for people."""

LeftOut = tuple[tuple[str, str], ...]
"""Patterns that matched in a request, each with a text that it matched; each pair once, every pattern at least once."""


class Volatile:
    """Patterns of what is left out of the keys of requests."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        """Raise VolatileError for a pattern that is not valid, or that matches where nothing is."""
        self._patterns = [(pattern, compiled_pattern(pattern)) for pattern in dict.fromkeys(patterns)]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def left_out(self, body: Json) -> tuple[Json, LeftOut]:
        """The body without what the patterns match in its texts, and what that was.

        Raises VolatileError where that takes too long, and RecursionError for a body that nests too deeply.
        """
        found: dict[tuple[str, str], None] = {}
        matched: set[str] = set()
        until = time.monotonic() + VOLATILE_SECONDS

        def without(value: Json) -> Json:
            if isinstance(value, str):
                for pattern, expression in self._patterns:
                    value, texts = _replaced(expression, value, pattern, until)
                    for text in texts:
                        if len(found) < _MOST_KEPT or pattern not in matched:
                            found[pattern, text] = None
                            matched.add(pattern)
                return value
            if isinstance(value, Mapping):
                return {key: without(item) for key, item in value.items()}
            return [without(item) for item in value] if isinstance(value, Sequence) else value

        return without(body), tuple(found)


NOTHING_VOLATILE: Final = Volatile()


def _replaced(expression: Any, text: str, pattern: str, until: float) -> tuple[str, list[str]]:
    matches: list[str] = []

    def replaced(match: Any) -> str:
        matches.append(match[0])
        return _STANDS_FOR

    try:
        left: str = expression.sub(replaced, text, timeout=max(until - time.monotonic(), 0.001))
    except TimeoutError:
        raise VolatileError(
            f"fc_volatile: {pattern!r} takes too long on this request; write it without repeats inside repeats"
        ) from None
    return left, matches


_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
)
_KNOWN: Final = (
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?",
    r"\d{4}-\d\d-\d\d",
    rf"{_MONTH} {_DAY},? \d{{4}}",
    rf"{_DAY} {_MONTH} \d{{4}}",
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day",
    r"\d{1,2}[./]\d{1,2}[./]\d{4}",
    r"\d\d?:\d\d(?::\d\d)?(?:\.\d+)?(?: ?[AP]M)?",
    r"(?:/[\w.@~+-]+){2,}/?",
    r"[A-Z]:(?:\\[\w .@~+-]+)+",
    r"\b[0-9a-fA-F]{12,}\b",
)
"""Dates, times, UUIDs, paths and digests, the longest forms first."""
_LONGEST_COMPARED: Final = 100_000
_MOST_NUMBERS: Final = 10


def offered_patterns(pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Patterns by which each pair of texts is the same; none where no date, time, UUID, path or number explains it."""
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    if not differing or sum(len(one) + len(other) for one, other in differing) > _LONGEST_COMPARED:
        return ()
    candidates = (*_KNOWN, *_numbers_in(differing))
    for pattern in candidates:
        if _makes_equal([pattern], differing):
            return (pattern,)
    needed = [pattern for pattern in candidates if _matches_both_of_some([pattern], differing)]
    if not _makes_equal(needed, differing):
        return ()
    for pattern in tuple(needed):
        rest = [each for each in needed if each != pattern]
        needed = rest if _makes_equal(rest, differing) else needed
    return tuple(needed)


def _numbers_in(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Patterns of numbers that differ, each with the word before it: a pattern of all numbers would hide too much."""
    import re

    number, word = re.compile(r"\d+"), re.compile(r"[^\W\d]{1,20}[^\w\n]{0,3}\Z")
    found: dict[str, None] = {}
    for one, other in pairs:
        for left, right in zip(number.finditer(one), number.finditer(other), strict=False):
            if left[0] == right[0]:
                continue
            before = word.search(one, max(left.start() - 24, 0), left.start())
            found[rf"{re.escape(before[0])}\d+" if before else r"\b\d{3,}\b"] = None
            if len(found) == _MOST_NUMBERS:
                return list(found)
    return list(found)


def _makes_equal(patterns: Sequence[str], pairs: Iterable[tuple[str, str]]) -> bool:
    return all(_without(patterns, one) == _without(patterns, other) for one, other in pairs)


def _matches_both_of_some(patterns: Sequence[str], pairs: Iterable[tuple[str, str]]) -> bool:
    return any(_without(patterns, one) != one and _without(patterns, other) != other for one, other in pairs)


def _without(patterns: Sequence[str], text: str) -> str:
    for pattern in patterns:
        text = _expression(pattern).sub(_STANDS_FOR, text)
    return text


@lru_cache(maxsize=64)
def _expression(pattern: str) -> Pattern[str]:
    import re

    return re.compile(pattern)

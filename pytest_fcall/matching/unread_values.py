"""Values that a model writes though nothing has told it, and texts that tell of a failure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from pytest_fcall.core.values import Json

_LEAST_TEXT: Final = 4
"""The fewest letters of a text that nobody writes by chance; with a digit in it, two characters will do."""
_LEAST_FIGURE: Final = 2
_MOST_VALUES: Final = 1_000
_DEEPEST: Final = 64
_FIGURE: Final = re.compile(r"\b[^\W_]*\d(?:[\w.,:/-]*\w)?")
"""A word with a digit in it: an amount, a code, a date, a time."""
_LIST_NUMBER: Final = re.compile(r"(?m)^[ \t]*\d{1,2}[.)]\s")
_WAITING_TIME: Final = re.compile(r"\b\d{1,3}(?:\s?-\s?\d{1,3})?\s?(?:s|seconds?|min|minutes?|hours?)\b", re.IGNORECASE)
_FAILURE: Final = re.compile(
    r"""\b(?:could\s?n[o']?t | could\ not | can\s?not | can't | unable\ to | not\ able\ to | was\ unable
    | (?:has\ |have\ |had\ )?failed | timed\ out | time-?out | unavailable | not\ available
    | did(?:\ not|n't)\ (?:get|receive|respond|answer|work|succeed|go\ through|complete|load|return|come\ back)
    | (?:is|are|was|were)(?:\ not|n't)\ (?:responding|working|readable|complete)
    | (?:not|never|no)\ (?:get|got|receive|received|reach|response|answer|result|results)
    | still\ running | unreadable | incomplete | corrupted | cut\ off | garbled | an\ error)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def mentions_failure(text: str) -> bool:
    """Whether an English text says that something failed."""
    return _FAILURE.search(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")) is not None


class ReadTexts:
    """The texts that a model has read so far, and those that it has written itself in calls."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def add(self, value: Json) -> None:
        """Add a value that the model has read."""
        self._texts += (text.casefold() for text in texts_of(value))

    def has(self, value: str) -> bool:
        """Whether the value stands in what was read."""
        folded = value.casefold()
        return any(_occurs(folded, text) for text in self._texts)

    def unread(self, values: Iterable[Json]) -> list[str]:
        """The values, as texts, by which it is recognised that somebody knows these results, of those not yet read."""
        found = dict.fromkeys(text for value in values for text in _telling_texts(value))
        return [text for text in list(found)[:_MOST_VALUES] if not self.has(text)]

    def unread_figure(self, text: str) -> str | None:
        """The first amount, code or time in a text that nothing has told. Waiting times and numbers of lists are free.

        Of very many figures the last ones count as untold.
        """
        left = _WAITING_TIME.sub(" ", _LIST_NUMBER.sub(" ", text))
        figures = dict.fromkeys(_FIGURE.findall(left))
        return next((each for place, each in enumerate(figures) if place >= _MOST_VALUES or not self.has(each)), None)


def first_known(values: Sequence[str], text: str) -> str | None:
    """The first of the values that stands in a text."""
    folded = text.casefold()
    return next((value for value in values if _occurs(value.casefold(), folded)), None)


def texts_of(value: Json, depth: int = 0) -> Iterator[str]:
    """Each text and number in a value, and its keys, as text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool) or value is None or depth > _DEEPEST:
        return
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from texts_of(item, depth + 1)
    elif isinstance(value, Sequence):
        for item in value:
            yield from texts_of(item, depth + 1)
    else:
        with suppress(ValueError):  # an integer that is too long to be written
            yield json.dumps(value, default=str)


def _telling_texts(value: Json, depth: int = 0) -> Iterator[str]:
    """The texts in a value that nobody writes by chance; of a long one, the figures in it."""
    if isinstance(value, Mapping):
        for item in value.values() if depth <= _DEEPEST else ():
            yield from _telling_texts(item, depth + 1)
        return
    if isinstance(value, Sequence) and not isinstance(value, str):
        for item in value if depth <= _DEEPEST else ():
            yield from _telling_texts(item, depth + 1)
        return
    for text in texts_of(value):
        bare = text.strip()
        has_digit = any(char.isdigit() for char in bare)
        if len(bare) >= (_LEAST_FIGURE if has_digit else _LEAST_TEXT):
            yield bare
        yield from (each for each in _FIGURE.findall(bare) if len(each) >= _LEAST_FIGURE)


def _occurs(value: str, text: str) -> bool:
    """Whether a value stands in a text, and not as a part of a longer word or number; both are folded."""
    start = text.find(value)
    while start != -1:
        end = start + len(value)
        if not (_is_inside(text, start - 1, start) or _is_inside(text, end - 1, end)):
            return True
        start = text.find(value, start + 1)
    return False


def _is_inside(text: str, left: int, right: int) -> bool:
    """Whether both places hold letters or digits."""
    return left >= 0 and right < len(text) and text[left].isalnum() and text[right].isalnum()

"""Python values of any kind as JSON, with a limit on the length."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from inspect import isclass, ismodule
from pathlib import PurePath
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from pytest_fcall.core.values import Json


DEEPEST = 100
_MOST_BITS = 14_000  # about as many digits as Python writes


class NotPlain(ValueError):
    """JSON cannot say it, or not within the limit. The text says what, without a full stop."""


def json_text(value: object, most: int) -> str:
    """Give the JSON of `value`, in at most about `most` bytes; NotPlain says why there is none.

    Tuples and sets are lists, sets in a stable order; dates are written as ISO 8601 has them; NaN, which tables use
    for nothing, is null; dataclasses, Pydantic models and other objects are their public attributes, without those
    that lead back to an object that they are part of; data frames are lists of rows.
    """
    text = json.dumps(_Writer(most).of(value, ()))
    if len(text) > most:
        raise NotPlain(f"it has more than {most:,} bytes")
    return text


class _Writer:
    """Counts, while it goes, about how long the text will be."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._left = most

    def of(self, value: object, above: tuple[object, ...]) -> Json:
        if len(above) > DEEPEST:
            raise NotPlain(f"it is nested more than {DEEPEST} levels deep")
        self._spend(1)
        match value:
            case None | bool():
                return value
            case int():
                return self._whole(int.__int__(value))
            case float():
                return _finite(float.__float__(value))
            case str():
                return self._text(str.__str__(value))
        if any(value is each for each in above):
            raise NotPlain("it holds itself")
        return self._built(value, (*above, value))

    def _built(self, value: object, above: tuple[object, ...]) -> Json:
        match value:
            case Enum():
                return self.of(value.value, above)
            case date() | time():
                return value.isoformat()
            case Decimal() | PurePath() | UUID() | timedelta():
                return self._text(str(value))
            case bytes() | bytearray() | memoryview():
                raise NotPlain("it holds bytes, which may stand for anything; decode them")
            case Mapping():
                return {self._key(key): self.of(item, above) for key, item in value.items()}
            case AbstractSet():
                return sorted(
                    (self.of(item, above) for item in value), key=lambda item: json.dumps(item, sort_keys=True)
                )
        if callable(value) or ismodule(value):
            raise _unsayable(value)
        if (told := _conversion(value)) is not None:
            return self.of(told(), above)
        if isinstance(value, Iterable):
            return [self.of(item, above) for item in value]
        return {
            name: self.of(item, above)
            for name, item in _attributes(value)
            if not (callable(item) or any(item is each for each in above))
        }

    def _key(self, key: object) -> str:
        match key:
            case str():
                return self._text(str.__str__(key))
            case Enum():
                return self._key(key.value)
            case None | bool() | float():
                return json.dumps(key)
            case int():
                return str(self._whole(int.__int__(key)))
            case date() | UUID() | PurePath():
                return str(key)
        raise NotPlain(f"a key of it is a {type(key).__name__}, not a string")

    def _whole(self, number: int) -> int:
        if number.bit_length() > _MOST_BITS:
            raise NotPlain("it holds a whole number of thousands of digits")
        self._spend(number.bit_length() // 4)
        return number

    def _text(self, text: str) -> str:
        self._spend(len(text))
        return text

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise NotPlain(f"it has more than {self._most:,} bytes")


def _finite(number: float) -> float | None:
    if math.isinf(number):
        raise NotPlain("it holds an infinite number, which JSON cannot say")
    return None if math.isnan(number) else number


def _conversion(value: object) -> Callable[[], object] | None:
    """How an object of a library tells its own plain value: a Pydantic model, a data frame, an array, a series."""
    if hasattr(value, "iterrows") and callable(rows := getattr(value, "to_dict", None)):
        return partial(rows, orient="records")
    for name in ("model_dump", "tolist"):
        method: Callable[[], object] | None = getattr(value, name, None)
        if callable(method):
            return method
    return None


def _attributes(value: object) -> Iterator[tuple[str, object]]:
    """The public attributes of an object that has any."""
    if is_dataclass(value) and not isclass(value):
        names = [field.name for field in fields(value)]
    elif hasattr(value, "__dict__"):
        names = list(vars(value))
    else:
        raise _unsayable(value)
    yield from ((name, getattr(value, name)) for name in names if not name.startswith("_"))


def _unsayable(value: object) -> NotPlain:
    return NotPlain(f"it holds a value of type {type(value).__name__}, which JSON cannot say")

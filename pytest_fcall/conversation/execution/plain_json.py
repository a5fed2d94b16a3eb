"""Python values of any kind as JSON, with a limit on the length."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pytest_fcall.core.values import Json

DEEPEST: Final = 100
_MOST_BITS: Final = 14_000  # about as many digits as Python converts to text
_DATES: Final = (("datetime", "date"), ("datetime", "time"))
_TEXTS: Final = (("decimal", "Decimal"), ("pathlib", "PurePath"), ("uuid", "UUID"), ("datetime", "timedelta"))
_KEYS: Final = (("datetime", "date"), ("uuid", "UUID"), ("pathlib", "PurePath"))


class NotPlain(ValueError):
    """A value is not JSON, or not within the limit. The text says why, without a full stop."""


def json_text(value: object, limit: int) -> str:
    """The JSON of `value`, in at most `limit` bytes. Raises NotPlain.

    Tuples and sets become lists, sets in a stable order; dates become ISO 8601; NaN, which tables use for missing
    values, becomes null; data frames become lists of rows. Dataclasses, Pydantic models and other objects become their
    public attributes, without those that refer back to an object that contains them.
    """
    text = json.dumps(_Writer(limit).plain(value, ()))
    if len(text) > limit:
        raise NotPlain(f"it has more than {limit:,} bytes")
    return text


class _Writer:
    """Converts a value, and estimates the length of the text on the way."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit

    def plain(self, value: object, above: tuple[object, ...]) -> Json:
        """The value as JSON; `above` are the objects that contain it."""
        if len(above) > DEEPEST:
            raise NotPlain(f"it is nested more than {DEEPEST} levels deep")
        self._spend(1)
        match value:
            case None | bool():
                return value
            case int():
                return self._integer(int.__int__(value))
            case float():
                return _finite(float.__float__(value))
            case str():
                return self._text(str.__str__(value))
        if any(value is each for each in above):
            raise NotPlain("it contains itself")
        return self._compound(value, (*above, value))

    def _compound(self, value: object, above: tuple[object, ...]) -> Json:
        match value:
            case Enum():
                return self.plain(value.value, above)
            case bytes() | bytearray() | memoryview():
                raise NotPlain("it contains bytes, whose meaning is not known; decode them")
            case Mapping():
                return {self._key(key): self.plain(item, above) for key, item in value.items()}
            case AbstractSet():
                items = (self.plain(item, above) for item in value)
                return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
        if _is_any(value, _DATES) and (iso_format := getattr(value, "isoformat", None)):
            return self._text(iso_format())
        if _is_any(value, _TEXTS):
            return self._text(str(value))
        if callable(value) or isinstance(value, ModuleType):
            raise _unsupported(value)
        if (convert := _conversion(value)) is not None:
            return self.plain(convert(), above)
        if isinstance(value, Iterable):
            return [self.plain(item, above) for item in value]
        return {
            name: self.plain(item, above)
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
                return str(self._integer(int.__int__(key)))
        if _is_any(key, _KEYS):
            return str(key)
        raise NotPlain(f"a key of it is a {type(key).__name__}, not a string")

    def _integer(self, number: int) -> int:
        if number.bit_length() > _MOST_BITS:
            raise NotPlain("it contains an integer with more than 4,000 digits")
        self._spend(number.bit_length() // 4)
        return number

    def _text(self, text: str) -> str:
        self._spend(len(text))
        return text

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise NotPlain(f"it has more than {self._limit:,} bytes")


def _is_any(value: object, classes: tuple[tuple[str, str], ...]) -> bool:
    """Whether the value is of one of these classes. Modules that are not loaded have no instances."""
    loaded = ((sys.modules[module], name) for module, name in classes if module in sys.modules)
    return any(isinstance(value, getattr(module, name)) for module, name in loaded)


def _finite(number: float) -> float | None:
    if math.isinf(number):
        raise NotPlain("it contains an infinite number")
    return None if math.isnan(number) else number


def _conversion(value: object) -> Callable[[], object] | None:
    """The method by which an object of a library becomes plain: of a Pydantic model, a data frame, an array."""
    if hasattr(value, "iterrows") and callable(rows := getattr(value, "to_dict", None)):
        return partial(rows, orient="records")
    for name in ("model_dump", "tolist"):
        method: Callable[[], object] | None = getattr(value, name, None)
        if callable(method):
            return method
    return None


def _attributes(value: object) -> Iterator[tuple[str, object]]:
    """The public attributes of an object. Raises NotPlain where it has none."""
    if (names := _field_names(value)) is None:
        if not hasattr(value, "__dict__"):
            raise _unsupported(value)
        names = list(vars(value))
    yield from ((name, getattr(value, name)) for name in names if not name.startswith("_"))


def _field_names(value: object) -> list[str] | None:
    if "dataclasses" in sys.modules:
        from dataclasses import fields, is_dataclass

        if is_dataclass(value) and not isinstance(value, type):
            return [field.name for field in fields(value)]
    return None


def _unsupported(value: object) -> NotPlain:
    return NotPlain(f"it contains a value of type {type(value).__name__}")

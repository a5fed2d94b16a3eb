"""What may be set for a model, by the type of its value: read from a query, checked from TOML or a case."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from pytest_fcall.core import Json

Check = Callable[[Json], bool]

_HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that may be set. `wanted` says in words what `check` takes."""

    wanted: str
    check: Check
    read: Callable[[str], Json] = str
    """Reads the text of a query. Raises ValueError for a text that says no such value."""
    shapes: bool = True
    """Whether the answer depends on it. What only leads to the server is no part of a request."""

    def from_text(self, text: str) -> Json:
        """Read and check a text. Raises ValueError with what is wanted."""
        try:
            value = self.read(text)
        except (ValueError, RecursionError):
            value = None
        return self.checked(value)

    def checked(self, value: Json) -> Json:
        """Return `value`, if it may be set. Raises ValueError with what is wanted."""
        if not self.check(value):
            raise ValueError(f"must be {self.wanted}")
        return value


def text(wanted: str = "a text", *, shapes: bool = True) -> Option:
    """A text that is not empty."""
    return Option(wanted, lambda value: isinstance(value, str) and bool(value.strip()), shapes=shapes)


def choice(*words: str) -> Option:
    """One of these words."""
    return Option(f"one of {', '.join(words)}", lambda value: value in words)


def number(wanted: str = "a number", least: float = -math.inf, *, above: bool = False, shapes: bool = True) -> Option:
    """A finite number from `least` on, or with `above` beyond it."""

    def check(value: Json) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return False
        return value > least if above else value >= least

    return Option(wanted, check, _number, shapes)


def integer(wanted: str = "an integer", least: int | None = None) -> Option:
    """An integer from `least` on."""

    def check(value: Json) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least)

    return Option(wanted, check, int)


def flag() -> Option:
    """True or false."""
    return Option("true or false", lambda value: isinstance(value, bool), _parsed)


def table(wanted: str, *, of_texts: bool = False, shapes: bool = True) -> Option:
    """Named values; in a query, JSON."""

    def check(value: Json) -> bool:
        if not isinstance(value, Mapping):
            return False
        return _is_json(value) and (not of_texts or all(_is_header(*item) for item in value.items()))

    return Option(wanted, check, _parsed, shapes)


def either(words: Option, other: Option) -> Option:
    """A word, or something that JSON says."""
    return Option(
        f"{words.wanted}, or {other.wanted}",
        lambda value: words.check(value) or other.check(value),
        lambda written: _parsed(written) if written.startswith("{") else written,
    )


def _number(written: str) -> Json:
    return int(written) if written.lstrip("+-").isdecimal() else float(written)


def _parsed(written: str) -> Json:
    return cast("Json", json.loads(written))


def _is_json(value: object) -> bool:
    """TOML has dates and times, and JSON has no NaN."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _is_header(name: object, value: object) -> bool:
    """Whether it can stand in a request's head, in one line of its own."""
    if not (isinstance(name, str) and isinstance(value, str)):
        return False
    return _HEADER.fullmatch(name) is not None and value.isascii() and value.isprintable()

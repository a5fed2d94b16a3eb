"""Texts of settings, read as numbers and choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from typing import TypeVar

from pytest_fcall.session.outcomes import SettingError

_Number = TypeVar("_Number", int, float)
_Choice = TypeVar("_Choice", bound=str)


def positive_number(name: str, text: str, read: Callable[[str], _Number], unit: str = "") -> _Number | None:
    """The number of a setting; None where nothing is given. Raises SettingError for one that is not positive."""
    if not text:
        return None
    with suppress(ValueError):
        number = read(text)
        if 0 < number < inf:
            return number
    raise SettingError(f"{name}: {text!r} must be a positive {'integer' if read is int else 'number'}{unit}")


def choice(name: str, text: str, choices: Sequence[_Choice]) -> _Choice:
    """The choice of a setting. Raises SettingError for another text."""
    for each in choices:
        if each == text:
            return each
    raise SettingError(f"{name}: {text!r} is none of {', '.join(choices)}")

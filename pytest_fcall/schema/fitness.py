"""Arguments as a model gave them, made fit for a validator that only knows JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pytest_fcall.core import Json
from pytest_fcall.schema.finding import Finding
from pytest_fcall.schema.words import place, shown

_DEEPEST = 50
_MOST_BITS = 4096


def fit(value: object, path: tuple[str | int, ...], unfit: list[Finding]) -> Json:
    """A copy of `value` in dicts and lists. What no JSON can say becomes null and is told in `unfit`."""
    if type(value) is str and value.isascii():
        return value  # as nearly everything in arguments
    match value:
        case None | bool():
            return value
        case str() if value.isascii() or _is_text(value):
            return str.__str__(value)
        case int() if value.bit_length() <= _MOST_BITS:
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
        case dict() | Mapping() if len(path) < _DEEPEST:
            return {
                str.__str__(key): fit(item, (*path, key), unfit)
                for key, item in value.items()
                if _is_key(key, path, unfit)
            }
        case list() | Sequence() if len(path) < _DEEPEST and not isinstance(value, str | bytes | bytearray):
            return [fit(item, (*path, index), unfit) for index, item in enumerate(value)]
    unfit.append(_finding(value, path))
    return None


def _is_key(key: object, path: tuple[str | int, ...], unfit: list[Finding]) -> bool:
    if isinstance(key, str) and (key.isascii() or _is_text(key)):
        return True
    unfit.append(Finding("wrong_type", path, f"{place(path)} has the key {shown(key)}, which is no string of JSON"))
    return False


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _finding(value: object, path: tuple[str | int, ...]) -> Finding:
    where = place(path)
    match value:
        case str():
            return Finding("schema", path, f"{where} holds half a character (a lone surrogate)", got=value)
        case int():
            return Finding("schema", path, f"{where} is a number of more than a thousand digits")
        case float():
            return Finding("wrong_type", path, f"{where} is {shown(value)}, which JSON has no number for")
        case Mapping() | list() | tuple():
            return Finding("schema", path, f"{where} is nested more than {_DEEPEST} levels deep")
        case _:
            return Finding("wrong_type", path, f"{where} is {shown(value)}, which JSON cannot say")

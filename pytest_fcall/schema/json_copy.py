"""Copies of arguments as the validator takes them: nothing but JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pytest_fcall.core import Json
from pytest_fcall.schema.value_text import MAX_INTEGER_BITS, quoted_path, shown

if TYPE_CHECKING:
    from pytest_fcall.schema.findings import Finding
    from pytest_fcall.schema.traversal import Path

_MAX_DEPTH: Final = 50


def fit_for_json(value: object, path: Path, unfit: list[Finding]) -> Json:
    """A copy of `value` in dicts and lists. A part that is not a JSON value becomes null, with a finding in `unfit`."""
    if type(value) is str and value.isascii():
        return value  # the fast path: most arguments are such strings, or small integers
    if type(value) is int and value.bit_length() <= MAX_INTEGER_BITS:
        return value
    match value:
        case None | bool():
            return value
        case str() if value.isascii() or _is_text(value):
            return str.__str__(value)
        case int() if value.bit_length() <= MAX_INTEGER_BITS:
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
        case dict() | Mapping() if len(path) < _MAX_DEPTH:
            return {
                str.__str__(key): fit_for_json(item, (*path, key), unfit)
                for key, item in value.items()
                if _is_key(key, path, unfit)
            }
        case list() | Sequence() if len(path) < _MAX_DEPTH and not isinstance(value, str | bytes | bytearray):
            return [fit_for_json(item, (*path, index), unfit) for index, item in enumerate(value)]
    unfit.append(_finding(value, path))
    return None


def _is_key(key: object, path: Path, unfit: list[Finding]) -> bool:
    if isinstance(key, str) and (key.isascii() or _is_text(key)):
        return True
    from pytest_fcall.schema.findings import Finding

    unfit.append(Finding("wrong_type", path, f"{quoted_path(path)} has the key {shown(key)}, which is not a string"))
    return False


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _finding(value: object, path: Path) -> Finding:
    from pytest_fcall.schema.findings import Finding

    where = quoted_path(path)
    match value:
        case str():
            return Finding("schema", path, f"{where} contains a lone surrogate, which is not a character", got=value)
        case int():
            return Finding("schema", path, f"{where} is a number of more than a thousand digits")
        case float():
            return Finding("wrong_type", path, f"{where} is {shown(value)}, which is not a JSON number")
        case Mapping() | list() | tuple():
            return Finding("schema", path, f"{where} is nested deeper than {_MAX_DEPTH} levels")
        case _:
            return Finding("wrong_type", path, f"{where} is {shown(value)}, which is not a JSON value")

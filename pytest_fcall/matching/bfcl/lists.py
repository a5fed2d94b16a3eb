"""Lists: in order, strings in them by the rules for strings."""

from __future__ import annotations

from typing import Any

from pytest_fcall.matching.bfcl.ruling import Objection, objection, written
from pytest_fcall.matching.bfcl.strings import each, standard_if_string

_LISTS = (list, str)


def check_list(name: str, value: list[Any], alternatives: Any) -> Objection:
    """Compare with each alternative as a list, the empty text too: an empty list stands for what may be left out."""
    answers = each(alternatives)
    if all(type(answer) in _LISTS for answer in answers) and value in answers:
        return None
    form = _standard(value)
    if form in [_standard(answer) for answer in answers]:
        return None
    message = f"`{name}` is {written(value)}, not one of {written(alternatives)}"
    return objection("value_error:list/tuple", message, argument=name)


def _standard(items: Any) -> list[Any]:
    return [standard_if_string(item) for item in each(items)]

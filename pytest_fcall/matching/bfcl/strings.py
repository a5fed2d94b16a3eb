"""Strings: case, spaces and some punctuation do not count."""

from __future__ import annotations

from typing import Any

from pytest_fcall.matching.bfcl.ruling import Objection, objection, written

_DROPPED = " ,./-_*^"


def standard(text: str) -> str:
    """Drop what does not count, so that -5 is 5 and 1.5 is 15; what is only punctuation is empty."""
    if text.isalnum():
        return text.lower()
    for character in _DROPPED:
        text = text.replace(character, "")
    return text.lower().replace("'", '"')


def standard_if_string(value: Any) -> Any:
    """Put a string into its standard form; leave anything else, what stands in a list within included."""
    return standard(value) if type(value) is str else value


def each(items: Any) -> list[Any]:
    """Go through items by number, as the official checker does: what has none breaks it."""
    return items if type(items) is list else [items[number] for number in range(len(items))]


def check_string(name: str, value: str, alternatives: Any) -> Objection:
    """Compare with each alternative that is a string."""
    form = standard(value)
    for answer in each(alternatives):
        if type(answer) is str and standard(answer) == form:
            return None
    message = f"`{name}` is {written(value)}, not one of {written(alternatives)}"
    return objection("value_error:string", message, argument=name)

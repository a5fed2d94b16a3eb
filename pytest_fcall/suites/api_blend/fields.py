"""What is taken from a row of a data set, whoever wrote it. BrokenRow says what it lacks."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core.call import Calls
from pytest_fcall.core.values import Json
from pytest_fcall.suites.api_blend.sample import Path
from pytest_fcall.suites.json_lines import BrokenRow


def text_in(row: Mapping[str, Json], key: str) -> str:
    """A text that says something."""
    if isinstance(text := row.get(key), str) and text.strip():
        return text.strip()
    raise BrokenRow(f"it needs `{key}`, a text")


def texts_in(row: Mapping[str, Json], key: str) -> list[str]:
    """A list of texts, each of which says something."""
    listed = row.get(key)
    if isinstance(listed, list) and listed and all(isinstance(each, str) and each.strip() for each in listed):
        return [str(each) for each in listed]
    raise BrokenRow(f"it needs `{key}`, a list of texts")


def decoded(calls: Calls) -> Path:
    """The calls of a text, which must have some."""
    if calls.malformed is not None or not calls.calls:
        raise BrokenRow(f"its right calls cannot be read: {calls.malformed or 'there are none'}")
    return calls.calls

"""What differs between two plain values, in words: `args.unit: 'celsius' → 'fahrenheit'`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pytest_fcall.core.readable import readable
from pytest_fcall.core.values import Json
from pytest_fcall.schema.words import path_text, shown

_LONGEST_COMPARED: Final = 20_000
"""Values whose text is longer are not compared part by part, which may take long."""
_LONGEST_SHOWN: Final = 60


def changes(old: Json, new: Json, keys: Sequence[str | int]) -> list[str]:
    """Say what became of `old`, which stands at `keys`, a line each.

    Types count: 1, 1.0 and true are three things. Nothing is said of what is the same however it is written.
    """
    texts = json_text(old), json_text(new)
    if not all(text and len(text) <= _LONGEST_COMPARED for text in texts):
        return [f"{path_text(keys)}: differ, and are too long to be compared"]
    try:
        return sorted(_parts(old, new, keys))
    except RecursionError:
        return [f"{path_text(keys)}: differ, and nest too deeply to be compared"]


def json_text(value: Any) -> str | None:
    """The text of a value; None where JSON cannot say it."""
    try:
        return readable(value)
    except (ValueError, TypeError, RecursionError):
        return None


def cut(text: str) -> str:
    """The beginning of a text that is long."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _parts(old: Any, new: Any, keys: Sequence[str | int]) -> Iterator[str]:
    from deepdiff import DeepDiff

    found = DeepDiff(old, new, view="tree", threshold_to_diff_deeper=0, ignore_nan_inequality=True)
    for kind, levels in found.items():
        for level in levels:
            path = path_text((*keys, *level.path(output_format="list")))
            yield f"{path}: {_change(kind, level.t1, level.t2)}"


def _change(kind: str, old: Json, new: Json) -> str:
    if kind.endswith("_added"):
        return f"{_value(new)} is new"
    if kind.endswith("_removed"):
        return f"{_value(old)} is gone"
    change = f"{_value(old)} → {_value(new)}"
    return f"{change} (type {_type(old)} → {_type(new)})" if kind == "type_changes" else change


def _type(value: Json) -> str:
    return "null" if value is None else type(value).__name__


def _value(value: Json) -> str:
    return cut(readable(value)) if isinstance(value, dict | list) else shown(value)

"""Fields that no reader reads: they may hold anything but calls."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Container, Iterable, Mapping
from collections.abc import Set as AbstractSet
from types import SimpleNamespace
from typing import Any

from pytest_fcall.backends.apps.answers.errors import AnswerError, inside
from pytest_fcall.backends.apps.answers.values import Fields, as_text, fields_of

_CALLS = re.compile(r"tool.?(?:call|use|invocation)|function.?call", re.IGNORECASE)
_KINDS = frozenset({"type", "kind", "part_kind", "block_type", "event_kind"})
_DEEPEST = 60
_NUMBERS = frozenset({"usage", "usage_metadata", "usageMetadata", "total_usage", "totalUsage", "token_usage"})
"""Counts of tokens, some of which are those of calls."""


def check_ignored(data: Fields, known: Container[str], place: str) -> None:
    """Raise AnswerError if a field that is not known holds something that is named like a call."""
    search: _Search | None = None
    for name, value in data.items():
        if not value or name in known or name in _NUMBERS:
            continue
        search = search or _Search()
        if found := search.calls_in(str(name), value, 0):
            held = f"holds {found}, which may be a call" if found != repr(name) else "may hold a call"
            raise AnswerError(
                f"the app returned an answer that is not understood: {inside(place, str(name))} is not read, and "
                f"{held}; return the messages that hold all calls, or leave this out"
            )


def said(value: object, place: str) -> str:
    """The text that a value is, or its JSON. Raises AnswerError if it holds something that is named like a call."""
    if value is None or isinstance(value, str):
        return value or ""
    check_ignored({place: value}, (), "")
    return as_text(value)


class _Search:
    """A search for what is named like a call, which sees every value once."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}
        """By identity; the values stay alive, so that no other takes the identity of one."""

    def calls_in(self, name: str, value: Any, depth: int) -> str:
        """The name in the value, or its own, that is like that of a call; empty without one."""
        if value is None or isinstance(value, (bool, int, float)) or _is_empty(value):
            return ""
        if name in _KINDS and isinstance(value, str):
            return f"the {name} {value[:80]!r}" if _CALLS.search(value) else ""
        if _CALLS.search(name):
            return repr(name[:80])
        if isinstance(value, str | bytes) or id(value) in self._seen:
            return ""
        if depth > _DEEPEST:
            return "values that are nested too deeply to be searched"
        self._seen[id(value)] = value
        return self._first(self._parts(value), depth + 1) or _class_of_calls(value)

    def _parts(self, value: Any) -> Iterable[tuple[str, Any]]:
        if isinstance(value, (list, tuple, AbstractSet)) and not hasattr(value, "_fields"):
            return (("", each) for each in value)
        pairs = ((str(name), each) for name, each in (fields_of(value) or {}).items())
        if _holds_data(value):
            return pairs
        # An object such as a client of a database: what it is made of are no answers.
        return ((name, each) for name, each in pairs if name in _KINDS or _CALLS.search(name))

    def _first(self, parts: Iterable[tuple[str, Any]], depth: int) -> str:
        return next(filter(None, (self.calls_in(name, each, depth) for name, each in parts)), "")


def _holds_data(value: Any) -> bool:
    kind = type(value)
    is_model = hasattr(kind, "model_fields") or hasattr(kind, "__fields__") or hasattr(kind, "_fields")
    return isinstance(value, Mapping | SimpleNamespace) or is_model or dataclasses.is_dataclass(kind)


def _class_of_calls(value: Any) -> str:
    name = type(value).__name__
    return f"an object of the class {name}" if _CALLS.search(name) else ""


def _is_empty(value: Any) -> bool:
    return isinstance(value, (str, bytes, list, tuple, dict, AbstractSet)) and not value

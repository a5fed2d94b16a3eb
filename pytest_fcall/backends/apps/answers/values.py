"""Values that an app returned, read without knowing their classes, and what may stand in fields that nobody reads."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, time
from enum import Enum
from types import SimpleNamespace
from typing import Any, TypeAlias

from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.core.values import Json

Fields: TypeAlias = Mapping[str, Any]

_SIMPLE = (str, int, float, bool, type(None))
_DEEPEST = 200


def fields_of(value: object) -> Fields | None:
    """The fields of a mapping, or of an object that holds data. None for any other value.

    Fields of pydantic models are not dumped: that would leave out what a subclass adds to the declared class of a
    field, such as the calls of an `AIMessage` where a `BaseMessage` is declared.
    """
    if isinstance(value, (dict, Mapping)):
        return value
    if isinstance(value, (*_SIMPLE, bytes, bytearray, list, tuple, AbstractSet, type, Enum)) and not _is_named_tuple(
        value
    ):
        return None
    kind = type(value)
    if dataclasses.is_dataclass(kind):
        return {each.name: getattr(value, each.name, None) for each in dataclasses.fields(kind)} | _attributes(value)
    if hasattr(kind, "model_fields") or hasattr(kind, "__fields__"):
        return {**_attributes(value), **(getattr(value, "__pydantic_extra__", None) or {})}
    if _is_named_tuple(value):
        return dict(zip(kind._fields, value, strict=True))  # type: ignore[attr-defined, call-overload]
    if callable(dump := getattr(value, "model_dump", None)) and isinstance(dumped := dump(), Mapping):
        return dumped
    return _attributes(value) or None


def _is_named_tuple(value: object) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _attributes(value: object) -> dict[str, Any]:
    own = getattr(value, "__dict__", None)
    found = dict(own) if isinstance(own, dict) else {}
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in found and not name.startswith("__") and hasattr(value, name):
                found[name] = getattr(value, name)
    return found


def field(data: Fields, *names: str) -> Any:
    """The first of these fields that is not None. Fields have other names in JSON than in Python."""
    return next((data[name] for name in names if data.get(name) is not None), None)


def required_fields(value: object, place: str, what: str) -> Fields:
    """The fields of a value that must have some. Raises AnswerError."""
    if (data := fields_of(value)) is None:
        raise not_understood(place, f"a {type(value).__name__}", what)
    return data


def list_items(value: object, place: str) -> Sequence[Any]:
    """The items of a list; none for None. Raises AnswerError for anything else."""
    if value is None:
        return ()
    if isinstance(value, (list, tuple)) and not _is_named_tuple(value):
        return value
    raise not_understood(place, f"a {type(value).__name__}", "a list")


def numbered_items(value: object, place: str) -> Iterator[tuple[Any, str]]:
    """The items of a list with their places. Raises AnswerError where it is no list."""
    for number, item in enumerate(list_items(value, place)):
        yield item, inside(place, number)


def word(value: object) -> str:
    """A name in lower case, from text or from a member of an enumeration; empty for anything else."""
    value = value.value if isinstance(value, Enum) else value
    return value.lower() if isinstance(value, str) else ""


def kind_of(value: object) -> str:
    """The name of the kind of a value, for a message: its `type` where it has one, else its class and its fields."""
    data = fields_of(value)
    if data is None:
        return f"a value of type {type(value).__name__}"
    named = next((f"the {name} {each[:80]!r}" for name in _KINDS if isinstance(each := data.get(name), str)), "")
    about = type(value).__name__ if not isinstance(value, Mapping) else "dict"
    shown = ", ".join(repr(str(name)[:40]) for name in list(data)[:6]) or "no fields"
    return f"of {named} ({about})" if named else f"a {about} with {shown}"


_KINDS = ("type", "kind", "part_kind", "block_type", "role")


def plain(value: object, depth: int = 0) -> Any:
    """The value as JSON can hold it. Raises AnswerError where it is nested too deeply, or contains itself."""
    if type(value) in _SIMPLE:
        return value
    if isinstance(value, Enum):
        return plain(value.value, depth)
    if isinstance(value, _SIMPLE):
        return value
    if depth > _DEEPEST:
        raise AnswerError(f"the app returned an answer with a value that is nested deeper than {_DEEPEST} levels")
    if isinstance(value, (dict, Mapping)):
        return {str(name): plain(each, depth + 1) for name, each in value.items()}
    if isinstance(value, (list, tuple, AbstractSet)) and not _is_named_tuple(value):
        return [plain(each, depth + 1) for each in value]
    if isinstance(value, bytes | bytearray):
        from base64 import b64encode

        return b64encode(value).decode()
    if isinstance(value, date | time):
        return value.isoformat()
    if (data := fields_of(value)) is not None:
        return {name: plain(each, depth + 1) for name, each in data.items() if not name.startswith("_")}
    return _text_of(value)


def _text_of(value: object) -> str:
    """The text of an object that holds no data; its class where that is an address, another one in each run."""
    kind = type(value)
    has_own = kind.__str__ is not object.__str__ or kind.__repr__ is not object.__repr__
    return str(value) if has_own else f"<{kind.__name__}>"


def as_text(value: object) -> str:
    """The value itself if it is text, else its JSON."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(plain(value), ensure_ascii=False)


def join_texts(value: object) -> Any:
    """The value as JSON, and a list that has nothing but texts as one text."""
    parts = plain(value)
    if not isinstance(parts, list) or not parts:
        return parts
    texts = [each.get("text") if isinstance(each, dict) else each for each in parts]
    return "".join(map(str, texts)) if all(isinstance(each, str) for each in texts) else parts


def names(words: Iterable[str]) -> str:
    """The words in order, for a message."""
    return ", ".join(sorted(each for each in words if each))


def as_json(value: object) -> Json:
    """The value as JSON, with text unchanged."""
    result: Json = plain(value)
    return result


_CALLS = re.compile(r"tool.?(?:call|use|invocation)|function.?call", re.IGNORECASE)
_CALL_KINDS = frozenset({"type", "kind", "part_kind", "block_type", "event_kind"})
_DEEPEST_SEARCH = 60
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
        if name in _CALL_KINDS and isinstance(value, str):
            return f"the {name} {value[:80]!r}" if _CALLS.search(value) else ""
        if _CALLS.search(name):
            return repr(name[:80])
        if isinstance(value, str | bytes) or id(value) in self._seen:
            return ""
        if depth > _DEEPEST_SEARCH:
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
        return ((name, each) for name, each in pairs if name in _CALL_KINDS or _CALLS.search(name))

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

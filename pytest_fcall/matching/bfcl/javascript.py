"""JavaScript source text read as values; text that cannot be read is kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pytest_fcall.matching.bfcl.source_search import (
    after_space,
    boolean_or_text,
    enclosed_texts,
    integer_or_text,
    number_or_text,
)

_QUOTES = ('"', "'")
_FLOAT = re.compile(r"-?\d+(\.\d+)?$")
_BIGINT = re.compile(r"-?\d+n$")

_ARRAY = re.compile(r"\[|new\s+Array\(")
_ROWS = re.compile(rf"(?:{_ARRAY.pattern})\s*\[")
_ROW = re.compile(r"\[")
_NEXT_ROW = re.compile(r"\s*(?:,\s*(\[)|([\])]))")


def javascript_value(text: str, word: str, inner: str | None = None) -> Any:
    """Read source text as the official type `word`, with items of the type `inner`."""
    return _array(text, inner) if word == "array" else _READERS[word](text)


def _string(text: str) -> str:
    return text[1:-1] if _is_quoted(text) else text


def _float(text: str) -> Any:
    return float(text) if _FLOAT.match(text) else text


def _bigint(text: str) -> Any:
    return int(text[:-1]) if _BIGINT.match(text) else text


def _is_quoted(text: str) -> bool:
    return text[:1] in _QUOTES and text.endswith(text[:1])


def _array(text: str, inner: str | None) -> Any:
    """Read `[…]` or `new Array(…)`, or a list of lists. Every comma separates items."""
    text = text.strip()
    try:
        if (rows := _rows(text)) is not None:
            return rows
        if (listed := _listed(text)) is not None:
            return [_item(part.strip(), inner) for part in listed.split(",")] if listed else []
    except ValueError:  # more digits than Python reads
        pass
    return text


def _item(text: str, inner: str | None) -> Any:
    return javascript_value(text, inner) if inner else _plain(text)


def _listed(text: str) -> str | None:
    """The text in the brackets, up to the first closing one."""
    opened = _ARRAY.match(text)
    if opened is None:
        return None
    end = text.find(_closing(text), opened.end())
    return None if end == -1 or "\n" in text[opened.end() : end] else text[opened.end() : end].strip()


def _rows(text: str) -> list[list[Any]] | None:
    """Read a list of lists; None if the text is not one."""
    end = _rows_end(text)
    if end is None:
        return None
    rows = [row.strip() for row in enclosed_texts(text[:end], _ROW, "]")]
    if rows:
        rows[0] = rows[0].removeprefix("[")
    return [[_plain(item) for item in row.split(",")] for row in rows]


def _rows_end(text: str) -> int | None:
    """The end of a list of lists: the first closing inner bracket that an outer one follows."""
    opened = _ROWS.match(text)
    at = opened.end() if opened else len(text)
    while (row_end := text.find("]", at)) != -1 and text.find("\n", at, row_end) == -1:
        following = _NEXT_ROW.match(text, row_end + 1)
        if following and following[2] == _closing(text):
            return following.end()
        at = following.end() if following and following[1] else row_end + 1
    return None


def _closing(text: str) -> str:
    return "]" if text.startswith("[") else ")"


def _dict(text: str) -> Any:
    """Read `{key: value}` on one line, up to the first closing brace."""
    text = text.strip()
    end = text.find("}")
    if not text.startswith("{") or end == -1 or "\n" in text[:end]:
        return text
    return {key.strip().strip("'\""): _member(value.strip()) for key, value in _pairs(text[1:end])}


def _member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _array(text, None)
    return _plain(text.strip("'\""))


def _pairs(content: str) -> Iterator[tuple[str, str]]:
    """The keys and values. A value ends at a comma if another key follows, else at the end of the text."""
    at = 0
    while True:
        while content.startswith(":", at):
            at += 1
        colon = content.find(":", at)
        if colon == -1:
            return
        value = after_space(content, colon + 1)
        end, following = _value_end(content, value)
        yield content[at:colon], content[value:end]
        at = following


def _value_end(content: str, at: int) -> tuple[int, int]:
    """The position of the comma that ends a value, and that of the next key."""
    comma = content.find(",", at)
    while comma != -1:
        following = content.find(",", comma + 1)
        colon = content.rfind(":", comma + 1, len(content) if following == -1 else following)
        if colon > comma + 1:
            return comma, min(after_space(content, comma + 1), colon - 1)
        comma = following
    return len(content), len(content)


def _plain(text: str) -> Any:
    """Read a value without a declared type."""
    text = text.strip()
    if text in {"true", "false"}:
        return text == "true"
    return text[1:-1] if _is_quoted(text) else number_or_text(text)


_READERS: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {
        "String": _string,
        "integer": integer_or_text,
        "float": _float,
        "Bigint": _bigint,
        "Boolean": boolean_or_text,
        "dict": _dict,
        "any": str,
    }
)

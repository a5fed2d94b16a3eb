"""Java source text read as values; text that cannot be read is kept."""

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
    line_end,
    number_or_text,
)

_LONG = re.compile(r"-?\d+[lL]$")
_FLOAT = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?[fF]$")
_DOUBLE = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?$")

_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{")
_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\(")
_NEW_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_LIST_BODY = re.compile(_NEW_LIST.pattern + r"\s*\{\{\s*")
_ADD = re.compile(r"add\(")
_NEW_MAP = re.compile(r"new\s+HashMap<")
_MAP_MADE = re.compile(r">\s*\(\)")
_MAP_BODY = re.compile(_MAP_MADE.pattern + r"\s*\{\s*\{?\s*")
_PUT = re.compile(r'put\("')


def java_value(text: str, word: str, inner: str | None = None) -> Any:
    """Read source text as the official type `word`, with items of the type `inner`."""
    if word == "Array":
        return _array(text, inner)
    if word == "ArrayList":
        return _array_list(text, inner)
    if word not in _READERS:
        raise NotImplementedError(word)
    return _READERS[word](text)


def _long(text: str) -> Any:
    return int(_unsuffixed(text)) if _LONG.match(text) else text


def _float(text: str) -> Any:
    return float(_unsuffixed(text)) if _FLOAT.match(text) else text


def _double(text: str) -> Any:
    return float(text) if _DOUBLE.match(text) else text


def _unsuffixed(text: str) -> str:
    # A line break at the end is accepted.
    return text.removesuffix("\n")[:-1]


def _array(text: str, inner: str | None) -> Any:
    """Read `new T[]{…}`. Every comma separates items; strings keep their quotes, so that none is ever right."""
    listed = next(enclosed_texts(text, _ARRAY, "}"), None)
    if listed is None:
        return text
    return [_item(part.strip(), inner) for part in listed.split(",") if part.strip()]


def _array_list(text: str, inner: str | None) -> Any:
    """Read a list from `Arrays.asList(…)` or `add(…)`. Every comma separates items; strings lose their ends."""
    listed = next(enclosed_texts(text, _AS_LIST, "))", least=1), None)
    if listed is not None:
        return [_unquoted_item(part.strip(), inner) for part in listed.split(",")]
    if opened := _LIST_BODY.search(text):
        end = text.find("}}", opened.end() + 1)
        body = text[opened.end() : max(end, opened.end())]
        return [_unquoted_item(part.strip(), inner) for part in enclosed_texts(body, _ADD, ")", least=1)]
    return [] if _NEW_LIST.search(text) else text


def _unquoted_item(text: str, inner: str | None) -> Any:
    return text[1:-1] if inner in {"char", "String"} else _item(text, inner)


def _item(text: str, inner: str | None) -> Any:
    return java_value(text, inner) if inner else _plain(text)


def _hash_map(text: str) -> Any:
    """Read each `put("key", value)` up to the first closing brace."""
    made = _NEW_MAP.search(text)
    opened = _MAP_BODY.search(text, made.end()) if made else None
    end = text.find("}", opened.end()) if opened else -1
    if opened and end != -1:
        return {key: _plain(value) for key, value in _puts(text[opened.end() : end])}
    return {} if _makes_map(text) else text


def _makes_map(text: str) -> bool:
    """Whether there is a `new HashMap<…>()` with its type on one line."""
    made, broken = None, -1
    for opened in _NEW_MAP.finditer(text):
        if made is None or made.start() < opened.end():
            made = _MAP_MADE.search(text, opened.end())
            if made is None:
                return False
            broken = text.rfind("\n", 0, made.start())
        if broken < opened.end():
            return True
    return False


def _puts(body: str) -> Iterator[tuple[str, str]]:
    """The keys and values: each on one line, the value perhaps on a later line than its key."""
    free, line = 0, -1
    for opened in _PUT.finditer(body):
        start = opened.end()
        if start < free:
            continue
        if start > line:
            line = line_end(body, start)
        comma = body.find('",', start, line)
        value = after_space(body, comma + 2)
        end = body.find(")", value, line)
        if comma != -1 and end == -1:
            # The key may extend to the last comma of the line, if the value is on another line.
            comma = body.rfind('",', start, line)
            value = after_space(body, comma + 2)
            end = body.find(")", value, line_end(body, value)) if value > line else -1
        if comma == -1 or end == -1:
            free = line + 1
            continue
        yield body[start:comma], body[value:end].strip()
        free = end + 1


def _plain(text: str) -> Any:
    """Read a value without a declared type."""
    if text in {"true", "false"}:
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if _LONG.match(text):
        return int(_unsuffixed(text))
    if _FLOAT.match(text):
        return float(_unsuffixed(text))
    return number_or_text(text)


_READERS: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {
        "byte": integer_or_text,
        "short": integer_or_text,
        "integer": integer_or_text,
        "long": _long,
        "float": _float,
        "double": _double,
        "boolean": boolean_or_text,
        "char": str,
        "String": str,
        "any": str,
        "HashMap": _hash_map,
    }
)

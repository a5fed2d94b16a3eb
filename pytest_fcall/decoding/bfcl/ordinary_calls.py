"""A short cut past Python's parser for what nearly all models write: `[name(key=value, …)]` with plain values.

Values are read by the JSON reader where both languages mean the same. Whatever is out of the ordinary gives None.
"""

from __future__ import annotations

import re
from json.decoder import JSONDecoder
from keyword import iskeyword

_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
_CALL = re.compile(rf"[ \n]*({_NAME}(?:\.{_NAME})*)\([ \n]*")
_ARGUMENT = re.compile(rf"({_NAME})[ \n]*=[ \n]*(?:'([^'\\\x00-\x1f]*)'|(True|False|None)\b|(?!=))")
_AFTER_ARGUMENT = re.compile(r"[ \n]*(?:,[ \n]*|(?=\)))")
_AFTER_CALL = re.compile(r"\)[ \n]*(?:,(?=[ \n]*[A-Za-z_])|(\]))")
_MOST_BRACKETS = 100
_WORDS = {"True": True, "False": False, "None": None}
_read_json = JSONDecoder().raw_decode


def read(text: str) -> list[dict[object, object]] | None:
    """Give the calls of a text in brackets, or None for Python's parser to see what it is."""
    if not _is_ordinary(text):
        return None
    calls: list[dict[object, object]] = []
    position, done = 1, False
    while not done:
        if (head := _CALL.match(text, position)) is None or any(map(iskeyword, head[1].split("."))):
            return None
        if (arguments := _arguments(text, head.end())) is None:
            return None
        calls.append({head[1]: arguments[0]})
        if (tail := _AFTER_CALL.match(text, arguments[1])) is None:
            return None
        position, done = tail.end(), tail[1] is not None
    return calls if position == len(text) else None


def _is_ordinary(text: str) -> bool:
    """Rule out what JSON reads otherwise than Python: escapes, its own names, deep nesting, odd characters."""
    return (
        text.startswith("[")
        and text.isascii()
        and not any(word in text for word in ("\\", "\t", "true", "false", "null", "NaN", "Infinity"))
        and text.count("[") + text.count("{") <= _MOST_BRACKETS
    )


def _arguments(text: str, position: int) -> tuple[dict[object, object], int] | None:
    arguments: dict[object, object] = {}
    while (found := _ARGUMENT.match(text, position)) is not None:
        name, quoted, word = found.groups()
        position = found.end()
        value: object
        if quoted is not None:
            value = quoted
        elif word is not None:
            value = _WORDS[word]
        else:
            try:
                value, position = _read_json(text, position)
            except ValueError:
                return None
        if iskeyword(name) or (after := _AFTER_ARGUMENT.match(text, position)) is None:
            return None
        arguments[name] = value
        position = after.end()
    return arguments, position

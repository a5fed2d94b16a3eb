"""A short cut past Python's parser for what nearly all models write: `[name(key=value, …)]` with plain values.

Lists and objects are read by the JSON reader, where both languages mean the same. Whatever is out of the ordinary
gives None, and Python's own parser decides.
"""

from __future__ import annotations

import re
from json.decoder import JSONDecoder
from keyword import iskeyword, kwlist

_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
_CHARACTERS = r"\\\x00-\x1f\ud800-\udfff"  # escapes, and what Python takes for the end of a line or of the text
_CALL = re.compile(rf"[ \n]*({_NAME}(?:\.{_NAME})*)\([ \n]*")
_END = r"[ \n]*(?:,[ \n]*|(?=\)))"
_ARGUMENT = re.compile(
    rf"""({_NAME})[ \n]*=[ \n]*
    (?: (?: "([^"{_CHARACTERS}]*)" | '([^'{_CHARACTERS}]*)' | (-?(?:0|[1-9][0-9]{{0,17}})) | (True|False|None) ){_END}
      | (?=[-0-9\[{{]) )""".replace("[ \\n]", "[\\ \\n]"),
    re.VERBOSE,
)
_AFTER_VALUE = re.compile(_END)
_AFTER_CALL = re.compile(r"\)[ \n]*(?:,(?=[ \n]*[A-Za-z_])|(\]))")
_NOT_COMMON = re.compile(rf"[{_CHARACTERS}\x7f]|true|false|null|NaN|Infinity")
_MOST_BRACKETS = 100
_KEYWORDS = frozenset(kwlist)
_WORDS = {"True": True, "False": False, "None": None}
_read_json = JSONDecoder().raw_decode


def read(text: str) -> list[dict[object, object]] | None:
    """Give the calls of a text in brackets, or None for Python's parser to see what it is."""
    if not text.startswith("["):
        return None
    if '"' not in text:
        text = text.replace("'", '"')
    calls: list[dict[object, object]] = []
    position, last = 1, False
    while not last:
        if (head := _CALL.match(text, position)) is None or not _KEYWORDS.isdisjoint(head[1].split(".")):
            return None
        if (read := _arguments(text, head.end())) is None or (tail := _AFTER_CALL.match(text, read[1])) is None:
            return None
        calls.append({head[1]: read[0]})
        position, last = tail.end(), tail[1] is not None
    return calls if position == len(text) else None


def _arguments(text: str, position: int) -> tuple[dict[object, object], int] | None:
    arguments: dict[object, object] = {}
    while (found := _ARGUMENT.match(text, position)) is not None:
        name = found[1]
        position = found.end()
        if iskeyword(name):
            return None
        match found.lastindex:
            case 2 | 3 as group:
                arguments[name] = found[group]
            case 4:
                arguments[name] = int(found[4])
            case 5:
                arguments[name] = _WORDS[found[5]]
            case _:
                if (value := _value(text, position)) is None:
                    return None
                arguments[name], position = value
    return arguments, position


def _value(text: str, start: int) -> tuple[object, int] | None:
    try:
        value, end = _read_json(text, start)
    except (ValueError, RecursionError):
        return None
    source = text[start:end]
    if _NOT_COMMON.search(source) or source.count("[") + source.count("{") > _MOST_BRACKETS:
        return None
    after = _AFTER_VALUE.match(text, end)
    return (value, after.end()) if after else None

"""A fast reader of the most common form of calls, `[name(key=value, …)]` with plain values.

The JSON reader reads lists and objects that mean the same in both languages. For any other text the reader gives None,
and Python's own parser reads it.
"""

from __future__ import annotations

import re
from json.decoder import JSONDecoder
from keyword import iskeyword, kwlist

_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
_CHARACTERS = r"\\\x00-\x1f\ud800-\udfff"  # escapes, and the characters that end a line or the text in Python
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
_MAX_BRACKETS = 100
_KEYWORDS = frozenset(kwlist)
_WORDS = {"True": True, "False": False, "None": None}
_read_json = JSONDecoder().raw_decode


def read_ordinary_calls(text: str) -> list[dict[object, object]] | None:
    """Give the calls of a text in brackets, None where Python's parser must read it."""
    if not text.startswith("["):
        return None
    if '"' not in text:
        text = text.replace("'", '"')
    calls: list[dict[object, object]] = []
    position, last = 1, False
    while not last:
        if (head := _CALL.match(text, position)) is None or not _KEYWORDS.isdisjoint(head[1].split(".")):
            return None
        if (given := _arguments(text, head.end())) is None or (tail := _AFTER_CALL.match(text, given[1])) is None:
            return None
        calls.append({head[1]: given[0]})
        position, last = tail.end(), tail[1] is not None
    return calls if position == len(text) else None


def _arguments(text: str, position: int) -> tuple[dict[object, object], int] | None:
    arguments: dict[object, object] = {}
    while (argument := _ARGUMENT.match(text, position)) is not None:
        name = argument[1]
        position = argument.end()
        if iskeyword(name):
            return None
        match argument.lastindex:
            case 2 | 3 as group:
                arguments[name] = argument[group]
            case 4:
                arguments[name] = int(argument[4])
            case 5:
                arguments[name] = _WORDS[argument[5]]
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
    if _NOT_COMMON.search(source) or source.count("[") + source.count("{") > _MAX_BRACKETS:
        return None
    after = _AFTER_VALUE.match(text, end)
    return (value, after.end()) if after else None

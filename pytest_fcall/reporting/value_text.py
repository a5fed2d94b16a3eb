"""Values, patterns and calls on one line, written so that different values look different."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from pytest_fcall.core.operators import Operator
from pytest_fcall.core.reply import Call
from pytest_fcall.reporting.safe_text import safe_line

_DEPTH = 12
_BARE_KEY = re.compile(r"[A-Za-z_][\w.-]{,99}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Spelling:
    """The words for true, false and null."""

    true: str
    false: str
    nothing: str


JSON = Spelling("true", "false", "null")
PYTHON = Spelling("True", "False", "None")


def value_text(value: object, limit: int = 2000, spelling: Spelling = JSON) -> str:
    """Render a value or pattern in YAML's flow style, on one line of safe text and about `limit` characters.

    Types stay visible: `"5"` is a string, `5` an integer, `5.0` a float, `true` a boolean. Operators read
    `$any["Oslo", "Bergen"]`. Any object may be given; its `repr` is never called.
    """
    return _joined(_value_pieces(value, limit, spelling, _DEPTH), limit)


def arguments_text(arguments: Mapping[str, object], limit: int = 2000, spelling: Spelling = JSON) -> str:
    """Render arguments as `city: "Oslo", days: 3`."""
    return _joined(_item_pieces(arguments, limit, spelling, _DEPTH), limit)


def call_text(call: Call, limit: int = 2000, spelling: Spelling = JSON) -> str:
    """Render a call as `get_weather(city: "Oslo", days: 3)`."""
    return f"{safe_line(call.name)}({arguments_text(call.arguments, limit, spelling)})"


def _joined(pieces: Iterator[str], limit: int) -> str:
    text = ""
    for piece in pieces:
        text += piece
        if len(text) > limit:
            return text if next(pieces, None) is None else f"{text} …"
    return text


def _value_pieces(value: object, limit: int, spelling: Spelling, depth: int) -> Iterator[str]:
    if depth == 0:
        yield "…"
    elif isinstance(value, Operator):
        yield from _operator_pieces(value, limit, spelling, depth)
    elif isinstance(value, Mapping):
        yield from chain("{", _item_pieces(value, limit, spelling, depth), "}")
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        yield from chain("[", _list_pieces(value, limit, spelling, depth), "]")
    else:
        yield _scalar(value, limit, spelling)


def _item_pieces(value: Mapping[str, object], limit: int, spelling: Spelling, depth: int) -> Iterator[str]:
    for place, (key, item) in enumerate(value.items()):
        yield ", " * (place > 0) + _key(key, limit, spelling) + ": "
        yield from _value_pieces(item, limit, spelling, depth - 1)


def _list_pieces(value: Sequence[object], limit: int, spelling: Spelling, depth: int) -> Iterator[str]:
    for place, item in enumerate(value):
        yield ", " * (place > 0)
        yield from _value_pieces(item, limit, spelling, depth - 1)


def _operator_pieces(value: Operator, limit: int, spelling: Spelling, depth: int) -> Iterator[str]:
    yield f"${safe_line(value.name)}"
    if value.operand is not True:
        yield "" if isinstance(value.operand, list | tuple) else " "
        yield from _value_pieces(value.operand, limit, spelling, depth - 1)
    for name, option in value.options.items():
        yield f" {safe_line(name)} "
        yield from _value_pieces(option, limit, spelling, depth - 1)


def _key(key: object, limit: int, spelling: Spelling) -> str:
    return key if isinstance(key, str) and _BARE_KEY.fullmatch(key) else _scalar(key, limit, spelling)


def _scalar(value: object, limit: int, spelling: Spelling) -> str:
    if value is None:
        return spelling.nothing
    if isinstance(value, bool):
        return spelling.true if value else spelling.false
    if isinstance(value, str):
        return _quoted(value, limit)
    if isinstance(value, int):
        # Python refuses to write very long integers as decimals, and is slow at long ones.
        return int.__repr__(value) if value.bit_length() < 1000 else safe_line(hex(value), limit)
    if isinstance(value, float):
        return float.__repr__(value)
    return f"<{safe_line(type(value).__name__)}>"


def _quoted(text: str, limit: int) -> str:
    """Quote as YAML does, so that a newline and a backslash before an n stay apart."""
    line = safe_line(text, limit)
    if "\\" not in text and '"' not in text:
        return f'"{line}"'
    if "'" not in text and line == text:
        return f"'{line}'"
    return '"' + safe_line(text.replace("\\", "\\\\").replace('"', '\\"'), limit) + '"'

"""JSON objects and lists in a text that says more: in prose, or between fences."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NoReturn

from pytest_fcall.core.values import Json

_BEGIN = re.compile(r"[\[{]")
_PIECE = re.compile(
    r"""(?P<open>[\[{])|(?P<close>[\]}])"""
    r"""|(?P<text>'(?:\\.|[^'\\\n]|(?<=\w)'(?=\w))*+')|"(?:\\.|[^"\\\n])*+"?"""
    r"""|'(?:\\.|[^'\\\n]|(?<=\w)'(?=\w))*+|(?P<word>\b(?:None|True|False)\b)"""
)
"""A quote between letters is an apostrophe. A text that is not closed is a piece as well, so that no quote is looked
at twice."""
_WORDS: Mapping[str, str] = MappingProxyType({"None": "null", "True": "true", "False": "false"})
_QUOTE = re.compile(r'\\.|"')
_MOST_TRIED: Final = 200
"""Brackets that may open a value. Models that answer do not write more of them in vain."""
_LONGEST_LITERAL: Final = 10_000
"""Characters of a value that Python wrote."""


def json_in(text: str) -> list[Json]:
    """Give all outermost objects and lists in a text, in order, in JSON or as Python writes them."""
    decoder = json.JSONDecoder(parse_constant=refuse)
    found: list[Json] = []
    at = 0
    for _ in range(_MOST_TRIED):
        opened = _BEGIN.search(text, at)
        if opened is None:
            break
        at = opened.start() + 1
        try:
            value, at = decoder.raw_decode(text, opened.start())
            found.append(value)
        except (ValueError, RecursionError):
            literal = _as_json(text, opened.start())
            if literal is not None:
                value, end = literal
                found.append(value)
                at = end
    return found


def refuse(name: str) -> NoReturn:
    """Refuse what Python's reader takes for a number, and JSON does not know."""
    raise ValueError(f"{name} is no JSON number")


def _as_json(text: str, start: int) -> tuple[Json, int] | None:
    """Read what Python writes and models take for JSON: single quotes, `None` and `True`."""
    parts: list[str] = []
    depth, at = 0, start
    for piece in _PIECE.finditer(text, start, min(len(text), start + _LONGEST_LITERAL)):
        parts += [text[at : piece.start()], _in_json(piece)]
        at = piece.end()
        depth += 1 if piece["open"] else -1 if piece["close"] else 0
        if not depth:
            break
    try:
        return json.loads("".join(parts), parse_constant=refuse), at
    except (ValueError, RecursionError):
        return None


def _in_json(piece: re.Match[str]) -> str:
    written = piece[0]
    if piece["word"]:
        return _WORDS[written]
    return f'"{_QUOTE.sub(_escaped, written[1:-1])}"' if piece["text"] else written


def _escaped(found: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(found[0], found[0])

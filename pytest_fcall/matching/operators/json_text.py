"""`$json`: a text that is JSON, or that contains JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.json_data import read_json, refuse_constant
from pytest_fcall.core.operators import OPERATORS, Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.place import Mismatch, Place, is_list, is_number

_OPENING = re.compile(r"[\[{]")
_PIECE = re.compile(
    r"""(?P<open>[\[{])|(?P<close>[\]}])"""
    r"""|(?P<text>'(?>(?:\\.|[^'\\\n]+|(?<=\w)'(?=\w))*)')|"(?>(?:\\.|[^"\\\n]+)*)"?"""
    r"""|'(?>(?:\\.|[^'\\\n]+|(?<=\w)'(?=\w))*)|(?P<word>\b(?:None|True|False)\b)"""
)
"""A quote between letters is an apostrophe. A text that is not closed is one piece, so that the search stays linear."""
_WORDS: Mapping[str, str] = MappingProxyType({"None": "null", "True": "true", "False": "false"})
_QUOTE = re.compile(r'\\.|"')
_MAX_TRIED: Final = 200
"""At most so many opening brackets are tried."""
_MAX_LITERAL: Final = 10_000
"""The longest value in Python's notation, in characters."""


def json_values_in(text: str) -> list[Json]:
    """All outermost objects and lists in a text, in order, in JSON or in Python's notation."""
    decoder = json.JSONDecoder(parse_constant=refuse_constant)
    found: list[Json] = []
    at = 0
    for _ in range(_MAX_TRIED):
        opened = _OPENING.search(text, at)
        if opened is None:
            break
        at = opened.start() + 1
        try:
            value, at = decoder.raw_decode(text, opened.start())
            found.append(value)
        except (ValueError, RecursionError):
            literal = _read_python_literal(text, opened.start())
            if literal is not None:
                value, end = literal
                found.append(value)
                at = end
    return found


def _read_python_literal(text: str, start: int) -> tuple[Json, int] | None:
    """Read a value in Python's notation, which models take for JSON: single quotes, `None` and `True`."""
    parts: list[str] = []
    depth, at = 0, start
    for piece in _PIECE.finditer(text, start, min(len(text), start + _MAX_LITERAL)):
        parts += [text[at : piece.start()], _piece_as_json(piece)]
        at = piece.end()
        depth += 1 if piece["open"] else -1 if piece["close"] else 0
        if not depth:
            break
    try:
        return read_json("".join(parts), refuse_constant), at
    except ValueError:
        return None


def _piece_as_json(piece: re.Match[str]) -> str:
    written = piece[0]
    if piece["word"]:
        return _WORDS[written]
    return f'"{_QUOTE.sub(_escape_for_json, written[1:-1])}"' if piece["text"] else written


def _escape_for_json(found: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(found[0], found[0])


def _loosened(pattern: Pattern, options: Mapping[str, Pattern]) -> Pattern:
    """Rewrite plain lists as `$unordered` where lists are in any order, and plain numbers as `$approx` with `round`.

    Operands that are expected values are rewritten too. `$literal` stays as it is, and so does `$json`, which has
    options of its own.
    """
    if not options.keys() & {"lists", "round"}:
        return pattern
    if isinstance(pattern, Operator):
        return _loosened_operand(pattern, options)
    if is_number(pattern):
        return Operator("approx", pattern, {"round": options["round"]}) if "round" in options else pattern
    if isinstance(pattern, Mapping):
        return {name: _loosened(value, options) for name, value in pattern.items()}
    if not is_list(pattern):
        return pattern
    items = [_loosened(item, options) for item in pattern]
    return Operator("unordered", items) if "lists" in options else items


def _loosened_operand(operator: Operator, options: Mapping[str, Pattern]) -> Operator:
    kind = OPERATORS[operator.name].operand if operator.name in OPERATORS else None
    operand = operator.operand
    if operator.name == "json":
        return operator
    if kind in ("patterns", "list", "container") and is_list(operand):
        operand = [_loosened(item, options) for item in operand]
    elif kind in ("pattern", "container"):
        operand = _loosened(operand, options)
    return Operator(operator.name, operand, operator.options)


def json_text(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """A string of JSON, or with `in: text` one that contains JSON; its value is compared, not its layout."""
    if not isinstance(got, str):
        return place.mismatch(operator, got)
    expected, inside = _loosened(operator.operand, operator.options), place.outside_schema()
    if operator.options.get("in") == "text":
        tried = [inside.compare(expected, value) for value in json_values_in(got)]
        if not tried:
            return place.mismatch(operator, got, "it contains no JSON object or list")
        return min(tried, key=lambda found: _mismatch_distance(found, place))
    try:
        value = read_json(got, refuse_constant)
    except ValueError as error:
        return place.mismatch(operator, got, f"it is {error}{_json_hint(got)}")
    return inside.compare(expected, value)


def _mismatch_distance(found: list[Mismatch], place: Place) -> tuple[bool, int]:
    """Values that differ in parts are nearer than those that differ as a whole."""
    return any(len(each.path) <= len(place.path) for each in found), len(found)


def _json_hint(got: str) -> str:
    return "; it contains JSON: `in: text` would find it" if json_values_in(got) else ""

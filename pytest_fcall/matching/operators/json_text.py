"""`$json`: the JSON that a text is, or that stands in a text that says more."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NoReturn

from pytest_fcall.core.operators import OPERATORS, Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.objects import Compare
from pytest_fcall.matching.operators.operand import is_list, is_number
from pytest_fcall.matching.place import Mismatch, Place

_OPENING = re.compile(r"[\[{]")
_PIECE = re.compile(
    r"""(?P<open>[\[{])|(?P<close>[\]}])"""
    r"""|(?P<text>'(?:\\.|[^'\\\n]|(?<=\w)'(?=\w))*+')|"(?:\\.|[^"\\\n])*+"?"""
    r"""|'(?:\\.|[^'\\\n]|(?<=\w)'(?=\w))*+|(?P<word>\b(?:None|True|False)\b)"""
)
"""A quote between letters is an apostrophe. A text that is not closed is a piece as well, so that no quote is looked
at twice."""
_WORDS: Mapping[str, str] = MappingProxyType({"None": "null", "True": "true", "False": "false"})
_QUOTE = re.compile(r'\\.|"')
_MAX_TRIED: Final = 200
"""Brackets that may open a value. Models that answer do not write more of them in vain."""
_MAX_LITERAL: Final = 10_000
"""Characters of a value that Python wrote."""


def json_values_in(text: str) -> list[Json]:
    """Give all outermost objects and lists in a text, in order, in JSON or as Python writes them."""
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


def refuse_constant(name: str) -> NoReturn:
    """Refuse what Python's reader takes for a number, and JSON does not know."""
    raise ValueError(f"{name} is no JSON number")


def _read_python_literal(text: str, start: int) -> tuple[Json, int] | None:
    """Read what Python writes and models take for JSON: single quotes, `None` and `True`."""
    parts: list[str] = []
    depth, at = 0, start
    for piece in _PIECE.finditer(text, start, min(len(text), start + _MAX_LITERAL)):
        parts += [text[at : piece.start()], _piece_as_json(piece)]
        at = piece.end()
        depth += 1 if piece["open"] else -1 if piece["close"] else 0
        if not depth:
            break
    try:
        return json.loads("".join(parts), parse_constant=refuse_constant), at
    except (ValueError, RecursionError):
        return None


def _piece_as_json(piece: re.Match[str]) -> str:
    written = piece[0]
    if piece["word"]:
        return _WORDS[written]
    return f'"{_QUOTE.sub(_escape_for_json, written[1:-1])}"' if piece["text"] else written


def _escape_for_json(found: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(found[0], found[0])


_OWN_OPTIONS = ("json",)
"""Say for themselves what holds inside them."""


def loosen_json(pattern: Pattern, options: Mapping[str, Pattern]) -> Pattern:
    """Rewrite plain lists as `$unordered` where lists are in any order, and plain numbers as `$approx` with `round`.

    What stands behind an operator is rewritten too, where that is an expected value; `$literal` stays as it is.
    """
    if not options.keys() & {"lists", "round"}:
        return pattern
    if isinstance(pattern, Operator):
        return _loosen_operand(pattern, options)
    if is_number(pattern):
        return Operator("approx", pattern, {"round": options["round"]}) if "round" in options else pattern
    if isinstance(pattern, Mapping):
        return {name: loosen_json(value, options) for name, value in pattern.items()}
    if not is_list(pattern):
        return pattern
    items = [loosen_json(item, options) for item in pattern]
    return Operator("unordered", items) if "lists" in options else items


def _loosen_operand(operator: Operator, options: Mapping[str, Pattern]) -> Operator:
    kind = OPERATORS[operator.name].operand if operator.name in OPERATORS else None
    operand = operator.operand
    if operator.name in _OWN_OPTIONS:
        return operator
    if kind in ("patterns", "list", "container") and is_list(operand):
        operand = [loosen_json(item, options) for item in operand]
    elif kind in ("pattern", "container"):
        operand = loosen_json(operand, options)
    return Operator(operator.name, operand, operator.options)


def json_text(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """A string of JSON, or with `in: text` one that holds some; what it says is compared, however it is laid out."""
    if not isinstance(got, str):
        return at.mismatch(operator, got)
    expected, inside = loosen_json(operator.operand, operator.options), at.outside_schema()
    if operator.options.get("in") == "text":
        tried = [compare(expected, said, inside) for said in json_values_in(got)]
        if not tried:
            return at.mismatch(operator, got, "there is no JSON object or list in it")
        return min(tried, key=lambda found: _mismatch_distance(found, at))
    try:
        said: Json = json.loads(got, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        return at.mismatch(operator, got, f"it is not JSON: {error or 'nested too deeply'}{_json_hint(got)}")
    return compare(expected, said, inside)


def _mismatch_distance(found: list[Mismatch], at: Place) -> tuple[bool, int]:
    """The nearest is one that is not another thing as a whole."""
    return any(len(each.keys) <= len(at.keys) for each in found), len(found)


def _json_hint(got: str) -> str:
    return "; there is some in it, which `in: text` would find" if json_values_in(got) else ""

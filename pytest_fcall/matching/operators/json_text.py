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
    r"""(?P<open>[\[{])|(?P<close>[\]}])|(?P<word>\b(?:None|True|False)\b)"""
    r"""|(?<=[\[{,:\s])(?:(?P<text>'(?>(?:\\.|[^'\\\n]+|(?<=\w)'(?=\w))*)')|"(?>(?:\\.|[^"\\\n]+)*)")"""
    r"""|(?P<broken>['"])"""
)
"""A quote between letters is an apostrophe. A text is broken that is not closed, or begins where no value may."""
_WORDS: Mapping[str, str] = MappingProxyType({"None": "null", "True": "true", "False": "false"})
_QUOTE = re.compile(r'\\.|"')
_JSON_PIECE = re.compile(
    r"""(?P<open>[\[{])|(?P<close>[\]}])|(?P<constant>NaN|Infinity)|"(?>(?:\\.|[^"\\])*)(?:"|\Z)""", re.DOTALL
)
_MAX_TRIED: Final = 200
"""At most so many opening brackets are tried."""
_MAX_LITERAL: Final = 10_000
"""The longest value in Python's notation, in characters."""


def json_values_in(text: str) -> list[Json]:
    """All outermost objects and lists in a text, in order, in JSON or in Python's notation."""
    decoder = json.JSONDecoder(parse_constant=refuse_constant)
    literals = _PythonLiterals(text)
    found: list[Json] = []
    broken: set[int] = set()
    at = 0
    for _ in range(_MAX_TRIED):
        opened = _OPENING.search(text, at)
        if opened is None:
            break
        start = opened.start()
        at, read = start + 1, None
        if start not in broken:
            try:
                read = decoder.raw_decode(text, start)
            except ValueError as error:  # where a constant stands that is refused, it does not say
                broken |= _open_brackets(text, start, getattr(error, "pos", len(text)))
            except RecursionError:
                pass
        if read := read or literals.read(start):
            value, at = read
            found.append(value)
    return found


def _open_brackets(text: str, start: int, end: int) -> set[int]:
    """The brackets of a value that are open at `end`, where it is no JSON any more: none of them encloses JSON."""
    brackets: list[int] = []
    for piece in _JSON_PIECE.finditer(text, start, end):
        if piece["open"]:
            brackets.append(piece.start())
        elif piece["close"]:
            del brackets[-1:]  # a number too long to be read breaks off before `end`
        elif piece["constant"]:
            break
    return set(brackets)


class _PythonLiterals:
    """Reads values in Python's notation, which models take for JSON: single quotes, `None` and `True`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._read: list[_Pieces] = []

    def read(self, start: int) -> tuple[Json, int] | None:
        """The value whose opening bracket is at `start`, and its end; None where there is none."""
        pieces = next((each for each in self._read if start in each.opened), None)
        if pieces is None:
            self._read.append(pieces := _Pieces(self._text, start))
        found = pieces.value(start, start + _MAX_LITERAL)
        if found is None:
            return None
        try:
            return read_json(found[0], refuse_constant), found[1]
        except ValueError:
            return None


class _Pieces:
    """The pieces of a text from a bracket on, each looked at once for all brackets in them.

    A bracket in a text is not among them. What is between quotes for the others is outside of them for it, so that it
    has other pieces, up to the first that is broken.
    """

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._ahead = _PIECE.finditer(text, start)
        self._next = next(self._ahead, None)
        self._at = start
        self._written: list[str] = []
        """What was read, as JSON."""
        self.opened: dict[int, int] = {}
        """Where what is written of a bracket begins, by the bracket's place."""
        self._open: list[int] = []
        self._closed: dict[int, tuple[int, int]] = {}
        """Where it ends, and where the closing bracket does, by the opening bracket's place."""

    def value(self, start: int, most: int) -> tuple[str, int] | None:
        """What the brackets that open at `start` enclose, as JSON, and its end; None unless it ends by `most`."""
        while start not in self._closed and (piece := self._next) and not piece["broken"] and piece.end() <= most:
            self._take(piece)
        if start not in self._closed:
            return None
        last, end = self._closed[start]
        return "".join(self._written[self.opened[start] : last]), end

    def _take(self, piece: re.Match[str]) -> None:
        self._written += self._text[self._at : piece.start()], _piece_as_json(piece)
        self._at = piece.end()
        if piece["open"]:
            self.opened[piece.start()] = len(self._written) - 1
            self._open.append(piece.start())
        elif piece["close"]:
            self._closed[self._open.pop()] = len(self._written), piece.end()
        self._next = next(self._ahead, None)


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

"""The API data base of a hub, and the calls written in it and in answers."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_fcall.core.values import Json
from pytest_fcall.decoding.python.calls import dotted_name
from pytest_fcall.decoding.python.literals import literal
from pytest_fcall.decoding.python_source import NotPython, expression_end, parse_expression
from pytest_fcall.suites.json_files import BrokenRow, is_strings, read_rows

_MOST_CALLS = 100
_MOST_CHARACTERS = 20_000
"""The searched part of a text. Each unclosed call is followed to its end; answers have a few thousand characters."""
_CALL = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?=\()")
_QUOTED = re.compile(r"'([^'\n]*+)'|\"([^\"\n]*+)\"")


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call in the form of source, with its values."""

    name: str
    positional: tuple[object, ...]
    named: Mapping[str, object]
    source: str
    required_texts: tuple[str, ...] = ()
    """Texts that must be among the values, at any position or name."""


def calls_in(text: str) -> list[WrittenCall]:
    """Return the readable calls in a text, in their order; an inner call comes after the call around it."""
    found = []
    text = text[:_MOST_CHARACTERS]
    for match, _ in zip(_CALL.finditer(text), range(_MOST_CALLS), strict=False):
        try:
            source = text[match.start() : expression_end(text, match.end())]
            node = parse_expression(source)
        except NotPython:
            continue
        if isinstance(node, ast.Call) and (name := dotted_name(node.func)):
            found.append(
                WrittenCall(
                    name,
                    tuple(_value(each, source) for each in node.args),
                    {each.arg: _value(each.value, source) for each in node.keywords if each.arg},
                    source,
                )
            )
    return found


def entry_call(call: str) -> WrittenCall | None:
    """Return the call of an entry; None if it cannot be read.

    Some entries have arguments in an order that Python forbids. Only the quoted texts in them count.
    """
    if found := calls_in(call):
        return found[0]
    name, quoted = _CALL.match(call), tuple(text for pair in _QUOTED.findall(call) for text in pair if text)
    return WrittenCall(name[0], (), {}, call, quoted) if name and len(quoted) > 1 else None


def _value(node: ast.expr, source: str) -> object:
    """The value of a literal; the source of anything else, since some entries lack quotes."""
    try:
        return literal(node)
    except NotPython:
        return ast.get_source_segment(source, node)


class BrokenDataBase(ValueError):
    """An API data base has an invalid row. The text names the file, the line and the fault."""


@dataclass(frozen=True, slots=True)
class Api:
    """One entry of an API data base."""

    domain: str
    call: str
    """The call, as Python source."""
    document: Mapping[str, Json]
    """The row of the file, without `checked`."""
    checked: tuple[str, ...] | None = None
    """The arguments that distinguish the API from others; None if the data base does not say."""


def read_apis(path: Path) -> tuple[Api, ...]:
    """Read a data base, plain or gzipped. Raises OSError or BrokenDataBase."""
    apis = []
    for row in read_rows(path):
        try:
            apis.append(parse_api(row.record))
        except BrokenRow as error:
            raise BrokenDataBase(f"{path}:{row.location.line}: {error}") from None
    return tuple(apis)


def parse_api(document: Mapping[str, Json]) -> Api:
    """Parse one entry. Raises BrokenRow for a missing or invalid field."""
    match document:
        case {"domain": str(domain), "api_call": str(call), "checked": checked, **others}:
            return Api(domain, call, {"domain": domain, "api_call": call, **others}, _checked(checked, call))
        case {"domain": str(domain), "api_call": str(call)}:
            return Api(domain, call, document)
    raise BrokenRow("`domain` and `api_call` must be strings")


def _checked(names: Json, call: str) -> tuple[str, ...]:
    if not is_strings(names):
        raise BrokenRow("`checked` must be a list of names of arguments")
    known = entry_call(call)
    for name in names:
        if known is None or name not in known.named:
            raise BrokenRow(f"`checked` names `{name}`, which is not a named argument of `{call}`")
    return tuple(names)

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
from pytest_fcall.decoding.python.source import NotPython, expression_end, parse_expression
from pytest_fcall.suites.json_files import BrokenRow, open_lines, parse_record, read_lines

_MOST_CALLS = 100
_MOST_CHARACTERS = 20_000
"""Characters that are searched: each call that is never closed is followed to the end. Answers have a few thousand."""
_CALL = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?=\()")
_QUOTED = re.compile(r"'([^'\n]*+)'|\"([^\"\n]*+)\"")


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call as it is written, with its values by place and by name."""

    name: str
    by_place: tuple[object, ...]
    by_name: Mapping[str, object]
    source: str
    anywhere: tuple[str, ...] = ()
    """Texts that must be given, by whatever place or name."""


def calls_in(text: str) -> list[WrittenCall]:
    """Read the calls in a text that can be read, in their order; an inner call comes after the one around it."""
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
    """Read the call of an entry; None where that cannot be done.

    Some have arguments in an order that Python does not take: of these the quoted texts count, wherever they stand.
    """
    if found := calls_in(call):
        return found[0]
    name, quoted = _CALL.match(call), tuple(text for pair in _QUOTED.findall(call) for text in pair if text)
    return WrittenCall(name[0], (), {}, call, quoted) if name and len(quoted) > 1 else None


def _value(node: ast.expr, source: str) -> object:
    """What is no literal counts as its text: there are entries in the data bases that lack quotes."""
    try:
        return literal(node)
    except NotPython:
        return ast.get_source_segment(source, node)


class BrokenDataBase(ValueError):
    """The text names the file and the line, and says what is wrong."""


@dataclass(frozen=True, slots=True)
class Api:
    """One entry."""

    domain: str
    call: str
    """How it is called, as Python source."""
    document: Mapping[str, Json]
    """All that is known of it, as the file has it, but for `checked`."""
    checked: tuple[str, ...] | None = None
    """The arguments that tell it from others; None where the data base does not say."""


def read_apis(path: Path) -> tuple[Api, ...]:
    """Read a data base, plain or compressed. OSError where that cannot be done, BrokenDataBase where it is none."""
    apis = []
    with open_lines(path) as stream:
        for number, line in enumerate(read_lines(stream), 1):
            if line.strip():
                try:
                    apis.append(parse_api(parse_record(line)))
                except BrokenRow as error:
                    raise BrokenDataBase(f"{path}:{number}: {error}") from None
    return tuple(apis)


def parse_api(document: Mapping[str, Json]) -> Api:
    """Read one entry; BrokenRow where a field is missing or wrong that judging needs."""
    match document:
        case {"domain": str(domain), "api_call": str(call), "checked": checked, **others}:
            return Api(domain, call, {"domain": domain, "api_call": call, **others}, _checked(checked, call))
        case {"domain": str(domain), "api_call": str(call)}:
            return Api(domain, call, document)
    raise BrokenRow("an API needs `domain` and `api_call`, both text")


def _checked(said: Json, call: str) -> tuple[str, ...]:
    if not isinstance(said, list) or not all(isinstance(name, str) for name in said):
        raise BrokenRow("`checked` is no list of names of arguments")
    known = entry_call(call)
    for name in said:
        if known is None or name not in known.by_name:
            raise BrokenRow(f"`checked` names `{name}`, an argument that `{call}` does not give by name")
    return tuple(map(str, said))


def plain_or_gzipped(folder: Path, name: str) -> Path:
    """The file `name` in a folder, or `name.gz` where only that is there."""
    plain, packed = folder / name, folder / f"{name}.gz"
    return packed if packed.exists() and not plain.exists() else plain

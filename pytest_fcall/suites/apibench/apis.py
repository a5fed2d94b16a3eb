"""The API data base of a hub, the calls written in it and in answers, and changes of its documents."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from pytest_fcall.core.values import Json, is_strings
from pytest_fcall.decoding.python_calls import dotted_name
from pytest_fcall.decoding.python_source import NotPython, expression_end, literal, parse_expression
from pytest_fcall.suites.json_files import BrokenRow, read_rows, text_field

_MOST_CALLS = 100
_MOST_CHARACTERS = 20_000
"""The searched part of a text. Each unclosed call is followed to its end; answers have a few thousand characters."""
_MOST_KEPT = 2_048
"""The calls of entries that are kept as read. The published hubs have 1,069, and every judging needs some of them."""
_CALL = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?=\()")
_QUOTED = re.compile(r"'([^'\n]*+)'|\"([^\"\n]*+)\"")
_OWN_KEYS: Final = ("was", "now")
_BRANCH: Final = r"(?::[\w./-]*\w)?"
"""The text that may follow a repository in an example: the branch belongs to the old one."""
_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+")


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


@lru_cache(maxsize=_MOST_KEPT)
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
class ApiEntry:
    """One entry of an API data base."""

    domain: str
    call: str
    """The call, as Python source."""
    document: Mapping[str, Json]
    """The row of the file, without `checked`."""
    checked: tuple[str, ...] | None = None
    """The arguments that distinguish the API from others; None if the data base does not say."""


def read_apis(path: Path) -> tuple[ApiEntry, ...]:
    """Read a data base, plain or gzipped. Raises OSError or BrokenDataBase."""
    apis = []
    for row in read_rows(path):
        try:
            apis.append(parse_api(row.record))
        except BrokenRow as error:
            raise BrokenDataBase(f"{path}:{row.location.line}: {error}") from None
    return tuple(apis)


def parse_api(document: Mapping[str, Json]) -> ApiEntry:
    """Parse one entry. Raises BrokenRow for a missing or invalid field."""
    match document:
        case {"domain": str(domain), "api_call": str(call), "checked": checked, **others}:
            return ApiEntry(domain, call, {"domain": domain, "api_call": call, **others}, _checked(checked, call))
        case {"domain": str(domain), "api_call": str(call)}:
            return ApiEntry(domain, call, document)
    raise BrokenRow("`domain` and `api_call` must be strings")


def _checked(names: Json, call: str) -> tuple[str, ...]:
    if not is_strings(names):
        raise BrokenRow("`checked` must be a list of names of arguments")
    known = entry_call(call)
    for name in names:
        if known is None or name not in known.named:
            raise BrokenRow(f"`checked` names `{name}`, which is not a named argument of `{call}`")
    return tuple(names)


@dataclass(frozen=True, slots=True)
class ApiChange:
    """An API before and after the change of its document."""

    former: ApiEntry
    new: ApiEntry


def read_changes(path: Path, apis: Sequence[ApiEntry]) -> Mapping[str, ApiChange]:
    """Read the changes of a data base, by the former call. Raises OSError or BrokenDataBase."""
    changes: dict[str, ApiChange] = {}
    for row in read_rows(path):
        try:
            own = {change.former.call: change for change in _changes(row.record, apis)}
        except BrokenRow as error:
            raise BrokenDataBase(f"{path}:{row.location.line}: {error}") from None
        if twice := next((call for call in own if call in changes), None):
            raise BrokenDataBase(f"{path}:{row.location.line}: `{twice}` is changed twice")
        changes |= own
    return changes


def _changes(row: Mapping[str, Json], apis: Sequence[ApiEntry]) -> Iterator[ApiChange]:
    """The changes of one row, which names a call, or a value that occurs in several calls."""
    was, now = text_field(row, "was"), text_field(row, "now")
    named = [api for api in apis if api.call == was][:1]
    changed = [(api, now) for api in named] or [
        (api, source) for api in _first_of_each_call(apis) if (source := _with_value(api, was, now))
    ]
    if not changed:
        raise BrokenRow(f"`was` is `{was:.200}`, which is neither a call of the data base nor a text in one")
    fields = {name: value for name, value in row.items() if name not in _OWN_KEYS}
    for api, call in changed:
        yield ApiChange(api, _changed_api(api, call, fields))


def _first_of_each_call(apis: Sequence[ApiEntry]) -> Sequence[ApiEntry]:
    return [*{api.call: api for api in reversed(apis)}.values()][::-1]


def _with_value(api: ApiEntry, was: str, now: str) -> str | None:
    """The source of a call with another value; None if the call does not have this value."""
    call = entry_call(api.call)
    if call is None or was not in (*call.positional, *call.named.values(), *call.required_texts):
        return None
    return re.sub(f"(?<=['\"]){re.escape(was)}(?=['\"])", lambda _: now, api.call)


def _changed_api(api: ApiEntry, call: str, fields: Mapping[str, Json]) -> ApiEntry:
    former, new = entry_call(api.call), entry_call(call)
    if former is None or new is None:
        raise BrokenRow(f"`{(api.call if former is None else call):.200}` cannot be read as a call")
    document = {name: _rewritten(value, _replacements(former, new)) for name, value in api.document.items()}
    checked = {"checked": [*api.checked]} if api.checked is not None and {*api.checked} <= new.named.keys() else {}
    return parse_api({**document, **checked, **fields, "api_call": call})


def _replacements(former: WrittenCall, new: WrittenCall) -> list[tuple[re.Pattern[str], str]]:
    """The changes of the other fields of the document: the new name, and new texts for old ones."""
    pairs = [(value, new.named.get(name)) for name, value in former.named.items()]
    pairs += zip(former.positional, new.positional, strict=False)
    texts = [(was, now) for was, now in pairs if isinstance(was, str) and isinstance(now, str) and was not in ("", now)]
    return [
        (re.compile(rf"(?<![\w.]){re.escape(former.name)}(?=\()"), new.name),
        *((re.compile(_as_a_whole(was)), now) for was, now in texts),
    ]


def _as_a_whole(text: str) -> str:
    branch = _BRANCH if _REPOSITORY.fullmatch(text) else ""
    return rf"(?<![\w/.-]){re.escape(text)}{branch}(?![\w/-])"


def _rewritten(value: Json, replacements: Sequence[tuple[re.Pattern[str], str]]) -> Json:
    if isinstance(value, str):
        for pattern, now in replacements:
            value = pattern.sub(now.replace("\\", r"\\"), value)
        return value
    if isinstance(value, Mapping):
        return {name: _rewritten(each, replacements) for name, each in value.items()}
    if isinstance(value, list):
        return [_rewritten(each, replacements) for each in value]
    return value

"""The decoders of API-BLEND's notations.

* SeqATIS and SeqSNIPS: `[{"API": "flight", "Parameters": {"city": ["Oslo"]}}]`, where values are lists
* SeqTopV2: `SEND_MESSAGE(CONTENT_EXACT, RECIPIENT = "Joy"), CREATE_REMINDER(DATE_TIME = "tonight")`
* SeqSGD and SeqMultiWOZ: `FindHotel(city = Oslo ; stars = 4) [SEP] ReserveHotel(hotel = Bristol)`
* SeqToolQA: `LoadDB[DBName=flights], FilterDB[Origin=OSL, Dest=CPH], PythonInterpreter(abs(a - b))`
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain

from pytest_fcall.core.reply import Call, Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.argument_values import ReadValue, named_arguments, schemas_of, tools_by_name, value_by_schema
from pytest_fcall.decoding.json_calls import json_value_in
from pytest_fcall.decoding.model_text import CallCollector, ReadCall, split_thinking
from pytest_fcall.decoding.strict_json import NotJson, arguments_from_value, parse_json
from pytest_fcall.decoding.unreadable_text import Unreadable, quote_short

_NAME = r"[^\W\d][\w.:-]*+"
_QUOTED = r"""(?:"(?>(?:[^"\\]+|\\.)*)"|'(?>(?:[^'\\]+|\\.)*)')"""
_LABEL = re.compile(r"\s*(?:Answer|Output):", re.IGNORECASE)
_BETWEEN = re.compile(r"\[SEP\]|\n")
_NAMED = re.compile(rf"\s*+{_NAME}\s*+=")
_INNER = r"[^()]+|\((?>(?:[^()]+|\([^()]*+\))*)\)"
_ROUND = re.compile(rf"(?P<name>{_NAME})\((?P<inside>(?>(?:{_INNER})*))\)\s*+[,;.]?\s*+")
"""A call in round brackets, whose argument may contain such brackets."""
_KEY = re.compile(r"""["']API["']""")


@dataclass(frozen=True, slots=True)
class Notation:
    """A decoder of `name`, brackets, and arguments between them.

    Every value is text in these notations; the schemas of the tools say which are numbers.
    """

    brackets: str
    separator: str
    """A pattern."""
    by_position: bool = False
    """Whether an argument without `=` is a value; otherwise it is a name without a value."""

    def __call__(self, text: str, tools: Sequence[Tool] = ()) -> Calls:
        """Read a text of calls and nothing else, or the lines beside prose that call offered tools."""
        offered = tools_by_name(tools)
        collector = CallCollector()
        thinking, text = split_thinking(text)
        collector.skip_thinking(thinking)
        chunks = [(chunk, self._calls(chunk)) for chunk in _chunks(text)]
        only_calls = all(calls for _, calls in chunks)
        for chunk, calls in chunks:
            if only_calls or any(name in offered for name, _ in calls):
                for name, inside in calls:
                    collector.add_call(partial(self._read, name, inside, offered))
            else:
                collector.skip_prose(chunk)
        return collector.result()

    def _calls(self, chunk: str) -> list[tuple[str, str | None]]:
        """The calls: each name, and the text between the brackets, None if they are not closed. Empty for prose."""
        head, end, _ = _patterns(self)
        at = 0
        calls: list[tuple[str, str | None]] = []
        while opening := head.match(chunk, at) or (self.by_position and _ROUND.match(chunk, at)):
            if opening.re is _ROUND:
                calls.append((opening["name"], opening["inside"]))
                at = opening.end()
                continue
            closing = end.search(chunk, opening.end())
            calls.append((opening["name"], chunk[opening.end() : closing.start()] if closing else None))
            at = closing.end() if closing else len(chunk)
        return calls if at == len(chunk) else []

    def _read(self, name: str, inside: str | None, offered: Mapping[str, Tool]) -> ReadCall:
        if inside is None:
            raise Unreadable(f"{quote_short(name)} is not closed by `{self.brackets[1]}`")
        schemas = schemas_of(offered.get(name))
        positional: list[Json] = []
        named: dict[str, Json] = {}
        if self.by_position and len(schemas) == 1 and inside.strip() and not _NAMED.match(inside):
            positional, inside = [_unquoted(inside.strip())], ""  # the whole text, including commas and equal signs
        for part in self._parts(inside):
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals and self.by_position:
                positional.append(_unquoted(key))
            elif not key:
                raise Unreadable(f"a value of {quote_short(name)} has no name")
            elif key in named:
                raise Unreadable(f"the argument {quote_short(key)} of {quote_short(name)} is given twice")
            else:
                named[key] = _unquoted(value) if equals else None
        given, notes = named_arguments(name, positional, named, offered)
        values = {key: _typed(value, schemas.get(key)) for key, value in given.items()}
        value_notes = chain.from_iterable(each for _, each in values.values())
        return Call(name, {key: value for key, (value, _) in values.items()}), [*notes, *value_notes]

    def _parts(self, inside: str) -> Iterator[str]:
        if not inside.strip():
            return
        part = _patterns(self)[2]
        at = 0
        while found := part.match(inside, at):
            yield found["part"]
            if not found["separator"]:
                return
            at = found.end()


topv2 = Notation("()", ",")
sgd = Notation("()", rf"\s;(?=\s|\Z)|;(?=\s*+{_NAME}\s*+=)")  # a value may contain a semicolon
toolqa = Notation("[]", ",", by_position=True)


@cache
def _patterns(notation: Notation) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """The patterns of the beginning of a call, its end, and one argument."""
    opening, closing = map(re.escape, notation.brackets)
    separator = f"(?:{notation.separator})"
    head = re.compile(rf"(?P<name>{_NAME}){opening}")
    # A value may contain brackets; after a closing one comes the next call, or the end of the text.
    following = rf"(?:{opening}|\()" if notation.by_position else opening
    end = re.compile(rf"{closing}\s*+[,;.]?\s*+(?={_NAME}{following}|\Z)")
    # A quote inside a value may be an apostrophe; a quoted string is the whole value.
    quoted = rf"""(?>(?:(?>(?:(?!{separator})[^="'])*)=)?)\s*+{_QUOTED}\s*+(?={separator}|\Z)"""
    part = rf"(?P<part>{quoted}|(?>(?:(?!{separator}).)*))(?P<separator>{separator}|\Z)"
    return head, end, re.compile(part, re.DOTALL)


def _chunks(text: str) -> list[str]:
    """The parts of a text between line ends and `[SEP]`, or the items of a list."""
    text = text[label.end() :] if (label := _LABEL.match(text)) else text
    if text.lstrip().startswith("["):
        with suppress(NotJson):
            value, _ = parse_json(text)
            if isinstance(value, list) and all(isinstance(item, str) for item in value):
                return [str(item).strip() for item in value]
        text = text.strip().removeprefix("[").removesuffix("]")
    return [chunk for piece in _BETWEEN.split(text) if (chunk := piece.strip())]


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL)
    return value


def _typed(value: Json, schema: Mapping[str, Json] | None) -> ReadValue:
    return value_by_schema(value, schema, "text") if isinstance(value, str) else (value, ())


def atis(text: str, _tools: Sequence[Tool] = ()) -> Calls:
    """Read the calls of SeqATIS and SeqSNIPS. Text that is not JSON and has no key `API` is prose."""
    collector = CallCollector()
    try:
        value = json_value_in(text, collector)
    except NotJson as error:
        return Calls(malformed=f"The text is not JSON: {error}." if _KEY.search(split_thinking(text)[1]) else None)
    if isinstance(value, Mapping) and "APIs" in value:
        value = value["APIs"]
    for item in value if isinstance(value, list) else [value]:
        collector.add_call(partial(_read_json, item))
    return collector.result()


def _read_json(item: Json) -> ReadCall:
    if not isinstance(item, Mapping) or not isinstance(name := item.get("API"), str) or not name:
        raise NotJson("it is not an object with `API` and `Parameters`")
    if unknown := [key for key in item if key not in {"API", "Parameters"}]:
        raise NotJson(f"beside `API` and `Parameters` it has {quote_short(unknown[0])}")
    if "Parameters" not in item:
        raise NotJson(f"{quote_short(name)} has no `Parameters`")
    try:
        return Call(name, arguments_from_value(item["Parameters"])), ()
    except NotJson as error:
        raise NotJson(f"the parameters of {quote_short(name)} cannot be read: {error}") from None

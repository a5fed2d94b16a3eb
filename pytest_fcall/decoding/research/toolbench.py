"""The decoder `toolbench`, of SambaNova's ToolBench: an action on each line.

Actions are `API.set_location("Oslo")`, `Agent.Open(door)`, `origin = Loc("Oslo")`, `curl -X GET '…'` and
`click[buy now]`. The object before the dot is part of the tool's name only if a tool with the whole name was offered.

A command of curl calls the offered tool whose name has its method and the end of its path, such as `GET
/data/2.5/weather` or `DELETE /v1/favourites/{image_id}`. The arguments are the parts of the path in braces, the query
and the body.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pytest_fcall.core.reply import Call, Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.argument_values import named_arguments, schemas_of, tools_by_name, value_by_schema
from pytest_fcall.decoding.model_text import FENCE, CallCollector, ReadCall, split_thinking
from pytest_fcall.decoding.python_calls import dotted_name, read_call_node
from pytest_fcall.decoding.python_source import NotPython, expression_end, literal, parse_expression
from pytest_fcall.decoding.strict_json import arguments_from_wire
from pytest_fcall.decoding.unreadable_text import Unreadable, quote_short

_NAME = r"[^\W\d][\w.]*+"
_LABEL = re.compile(r"(?:Actions?:|\d{1,4}\.(?!\d))\s*+")
_ASSIGNMENT = re.compile(r"(?P<name>[^\W\d]\w*+)\s*+=(?!=)(?P<value>.++)")
_ACTION = re.compile(rf"(?P<name>{_NAME})\(.*\)")
_CURL = re.compile(r"curl\s")
_VALUE = re.compile(r"['\"\[{]|[^\W\d]\w*+\(")  # the start of a value, unlike prose such as `total = 5 apples`
_OBJECT = re.compile(r"(?:API|Agent|worksheet)\.")
_CLICK = re.compile(r"(?P<name>search|click)\[(?P<text>.*)\]")
_STOPS = ("Task:", "------")
_CONSTRUCTORS: Mapping[str, Tool] = {
    "Date": Tool("Date", parameters={"properties": {"month": {}, "day": {}, "year": {}}}),
    "Loc": Tool("Loc", parameters={"properties": {"location": {}}}),
}
_MAX_VARIABLE_LENGTH = 200  # otherwise a variable that is used often makes large arguments of a short text
_SHELL = re.compile(
    r"""(?P<space>\s++)|'(?P<single>[^']*+)'|"(?P<double>(?>(?:[^"\\]+|\\.)*))"|\\(?P<one>.)|(?P<plain>[^\s'"\\]++)|.""",
    re.DOTALL,
)
_BODY = frozenset({"-d", "--data", "--data-raw", "--data-ascii", "--data-binary", "--data-urlencode", "--json"})
_TRANSPORT = frozenset({"-H", "--header", "-u", "--user", "-A", "--user-agent", "-o", "--output", "-b", "--cookie"})
_METHOD = frozenset({"-X", "--request"})
_WITH_VALUE = _METHOD | _BODY | _TRANSPORT | {"--url"}
_IGNORED = re.compile(r"-[sSLkivfg]+|--(?:silent|location|insecure|include|verbose|fail|compressed|globoff|show-error)")


def decode(text: str, tools: Sequence[Tool] = ()) -> Calls:
    """Read the actions; other lines are prose."""
    collector = CallCollector()
    thinking, text = split_thinking(text)
    collector.skip_thinking(thinking)
    reader = _Reader(tools_by_name(tools), collector)
    for line in _lines(text, collector):
        if collector.is_full:
            break
        reader.read(line)
    return collector.result()


class _Reader:
    """Reads line by line, and remembers the values of variables."""

    def __init__(self, offered: Mapping[str, Tool], collector: CallCollector) -> None:
        self._collector = collector
        self._offered = offered
        self._variables: dict[str, Json] = {}

    def read(self, line: str) -> None:
        """Read one line."""
        if _CURL.match(line):
            self._collector.add_call(partial(read_curl, line, self._offered))
        elif action := _CLICK.fullmatch(line):
            self._collector.add_call(partial(self._click, action["name"], action["text"]))
        elif _OBJECT.match(line) or _is_action(line):
            self._collector.add_call(partial(self._action, line))
        elif assignment := _ASSIGNMENT.fullmatch(line):
            self._assign(assignment["name"], assignment["value"].strip(), line)
        else:
            self._collector.skip_prose(line)

    def _action(self, line: str) -> ReadCall:
        node = parse_expression(line)
        if not isinstance(node, ast.Call) or (name := dotted_name(node.func)) is None:
            raise Unreadable(f"{quote_short(line)} is not a tool call")
        _, dot, last = name.rpartition(".")
        short = last if dot and name not in self._offered and last in self._offered else name
        # Models write the arguments of an Agent without quotes.
        read = partial(self._value, words=not name.startswith("API."))
        return read_call_node(ast.Call(ast.Name(short), node.args, node.keywords), self._offered, read)

    def _click(self, name: str, text: str) -> ReadCall:
        arguments, _ = named_arguments(name, [text], {}, self._offered)
        return Call(name, arguments), ()

    def _assign(self, name: str, source: str, line: str) -> None:
        try:
            self._variables[name] = _constant(parse_expression(source[:_MAX_VARIABLE_LENGTH]))
        except Unreadable as error:
            if _VALUE.match(source):
                self._collector.add_fault(f"The variable {quote_short(name)} cannot be read: {error}.")
            else:
                self._collector.skip_prose(line)

    def _value(self, node: ast.expr, *, words: bool) -> Json:
        if isinstance(node, ast.Name) and node.id in self._variables:
            return self._variables[node.id]
        if isinstance(node, ast.Name) and words:
            return node.id
        return _constant(node)


def _is_action(line: str) -> bool:
    """Whether a line is one call, perhaps with an unclosed string; `note(s): (none)` is not."""
    if not _ACTION.fullmatch(line):
        return False
    try:
        return expression_end(line, 0) == len(line)
    except NotPython:
        return True


def _constant(node: ast.expr) -> Json:
    """Give the value of a literal, or the arguments of `Date(…)` and `Loc(…)` as an object."""
    if isinstance(node, ast.Call) and dotted_name(node.func) in _CONSTRUCTORS:
        return read_call_node(node, _CONSTRUCTORS)[0].arguments
    return literal(node)


def _lines(text: str, collector: CallCollector) -> Iterator[str]:
    """The lines up to the next task, without numbers, semicolons and quotes around them."""
    for line in text.replace("\\\n", " ").split("\n"):
        bare = line.strip()
        if bare.startswith(_STOPS):
            collector.add_note(f"Text from {quote_short(bare)} on was dropped.")
            return
        bare = bare[label.end() :] if (label := _LABEL.match(bare)) else bare
        bare = bare.rstrip("; ")
        if bare.startswith(("#", FENCE)):
            continue
        if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'`":
            bare = bare[1:-1]
        if bare:
            yield bare


def read_curl(command: str, tools: Mapping[str, Tool]) -> ReadCall:
    """Read a command that begins with `curl`. Raises Unreadable."""
    request = _request(iter(_words(command)[1:]))
    body = "&".join(request.data)
    name, texts = _named(request.method or ("POST" if request.data else "GET"), request, tools)
    in_body: Mapping[str, Json] = {}
    notes: list[str] = []
    if body.lstrip().startswith(("{", "[")):
        in_body, body_notes = arguments_from_wire(body)
        notes.extend(body_notes)
    else:
        texts += _pairs(body)
    schemas = schemas_of(tools.get(name))
    arguments: dict[str, Json] = {}
    for key, value in texts:
        if key in arguments:
            raise Unreadable(f"the argument {quote_short(key)} is given twice")
        arguments[key], value_notes = value_by_schema(value, schemas.get(key), "text")
        notes.extend(value_notes)
    if repeated := next((key for key in in_body if key in arguments), None):
        raise Unreadable(f"the argument {quote_short(repeated)} is in both the URL and the body")
    dropped = (f"The option {quote_short(each)} was dropped." for each in request.dropped)
    return Call(name, arguments | dict(in_body)), [*notes, *dropped]


@dataclass(slots=True)
class _Request:
    """The request of a curl command: its address, method and body, and the options that are not read."""

    url: str = ""
    method: str = ""
    data: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


def _request(words: Iterator[str]) -> _Request:
    request = _Request()
    for option, value in _options(words):
        if option in _METHOD:
            request.method = value.upper()
        elif option in {"-G", "--get"}:
            request.method = request.method or "GET"
        elif option in _BODY:
            request.data.append(_encoded(option, value))
        elif option in _TRANSPORT:
            request.dropped.append(option)
        elif option == "--url":
            if request.url:
                raise Unreadable(f"it has more than one URL: {quote_short(value)}")
            request.url = value
        elif not _IGNORED.fullmatch(option):
            raise Unreadable(f"unknown option {quote_short(option)}")
    if not request.url:
        raise Unreadable("it has no URL")
    return request


def _options(words: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Options with their values, which may follow a short option without a space. A bare word is a URL."""
    for word in words:
        if word in _WITH_VALUE:
            yield word, next(words, "")
        elif word[:2] in _WITH_VALUE:
            yield word[:2], word[2:]
        elif word.startswith("-"):
            yield word, ""
        else:
            yield "--url", word


def _encoded(option: str, data: str) -> str:
    """Encode data as curl sends it."""
    if option != "--data-urlencode":
        return data
    name, equals, content = data.partition("=")
    return name + equals + quote(content)


def _words(command: str) -> list[str]:
    """Split a command into words as a shell does, without expanding or running anything."""
    words: list[list[str]] = [[]]
    for part in _SHELL.finditer(command):
        match part.lastgroup:
            case "space":
                words.append([])
            case "double":
                words[-1].append(re.sub(r'\\(["\\$`])', r"\1", part["double"]))
            case None:
                raise Unreadable("a quote is not closed")
            case group:
                words[-1].append(part[group])
    return ["".join(word) for word in words if word]


def _named(method: str, request: _Request, tools: Mapping[str, Tool]) -> tuple[str, list[tuple[str, str]]]:
    """Give the name of the requested tool, and the arguments in the URL."""
    try:
        url = urlsplit(request.url if "://" in request.url.partition("?")[0] else f"//{request.url}")
        path = unquote(url.path, errors="strict")
    except ValueError as error:
        raise Unreadable(f"the URL {quote_short(request.url)} cannot be read: {error}") from None
    parts = path.strip("/").split("/")
    matching = [(name, given) for name in tools if (given := _path_arguments(name, method, parts)) is not None]
    # Prefer the tool with most of the path, then the one with the fewest parts in braces.
    matching.sort(key=lambda each: (each[0].count("/"), -len(each[1])), reverse=True)
    name, in_path = matching[0] if matching else (f"{method} {path}", [])
    return name, in_path + _pairs(url.query)


def _path_arguments(name: str, method: str, parts: Sequence[str]) -> list[tuple[str, str]] | None:
    """Give the arguments in a path, None where it does not match the tool's name."""
    verb, _, route = name.partition(" ")
    expected = route.strip("/").split("/")
    if verb.upper() != method or not route.startswith("/") or len(expected) > len(parts):
        return None
    arguments: list[tuple[str, str]] = []
    for name_part, part in zip(expected, parts[len(parts) - len(expected) :], strict=True):
        if name_part.startswith("{") and name_part.endswith("}"):
            arguments.append((name_part[1:-1], part))
        elif name_part != part:
            return None
    return arguments


def _pairs(query: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query, keep_blank_values=True, errors="strict")
    except ValueError as error:
        raise Unreadable(f"{quote_short(query)} cannot be read: {error}") from None

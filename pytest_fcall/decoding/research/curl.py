"""Commands of curl as calls, as models of ToolBench write them.

A command calls the offered tool whose name has its method and the end of its path, such as `GET /data/2.5/weather` or
`DELETE /v1/favourites/{image_id}`. The arguments are the parts of the path in braces, the query and the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.argument_values import schemas_of, value_by_schema
from pytest_fcall.decoding.call_collector import ReadCall
from pytest_fcall.decoding.strict_json import arguments_from_wire
from pytest_fcall.decoding.unreadable import Unreadable, shortened

_SHELL = re.compile(
    r"""(?P<space>\s++)|'(?P<single>[^']*+)'|"(?P<double>(?:[^"\\]|\\.)*+)"|\\(?P<one>.)|(?P<plain>[^\s'"\\]++)|.""",
    re.DOTALL,
)
_BODY = frozenset({"-d", "--data", "--data-raw", "--data-ascii", "--data-binary", "--data-urlencode", "--json"})
_TRANSPORT = frozenset({"-H", "--header", "-u", "--user", "-A", "--user-agent", "-o", "--output", "-b", "--cookie"})
_METHOD = frozenset({"-X", "--request"})
_WITH_VALUE = _METHOD | _BODY | _TRANSPORT | {"--url"}
_IGNORED = re.compile(r"-[sSLkivfg]+|--(?:silent|location|insecure|include|verbose|fail|compressed|globoff|show-error)")


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
            raise Unreadable(f"the argument {shortened(key)} is given twice")
        arguments[key], value_notes = value_by_schema(value, schemas.get(key), "text")
        notes.extend(value_notes)
    if repeated := next((key for key in in_body if key in arguments), None):
        raise Unreadable(f"the argument {shortened(repeated)} is in both the URL and the body")
    dropped = (f"The option {shortened(each)} was dropped." for each in request.dropped)
    return Call(name, arguments | dict(in_body)), [*notes, *dropped]


@dataclass(slots=True)
class _Request:
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
                raise Unreadable(f"it has more than one URL: {shortened(value)}")
            request.url = value
        elif not _IGNORED.fullmatch(option):
            raise Unreadable(f"unknown option {shortened(option)}")
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
        raise Unreadable(f"the URL {shortened(request.url)} cannot be read: {error}") from None
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
        raise Unreadable(f"{shortened(query)} cannot be read: {error}") from None

"""A command of curl as a call: models of ToolBench ask web services so.

It calls the offered tool that is named after the request, such as `GET /data/2.5/weather` or
`DELETE /v1/favourites/{image_id}`: by method, and by the end of the path. Parts of the path in braces, the query and
the body are the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.call_collector import ReadCall
from pytest_fcall.decoding.strict_json import arguments_from_wire
from pytest_fcall.decoding.text_values import schemas_of, value_by_schema
from pytest_fcall.decoding.unreadable import Unreadable, shortened

_SHELL = re.compile(
    r"""(?P<space>\s++)|'(?P<single>[^']*+)'|"(?P<double>(?:[^"\\]|\\.)*+)"|\\(?P<one>.)|(?P<plain>[^\s'"\\]++)|.""",
    re.DOTALL,
)
_BODY = frozenset({"-d", "--data", "--data-raw", "--data-ascii", "--data-binary", "--data-urlencode", "--json"})
_TRANSPORT = frozenset({"-H", "--header", "-u", "--user", "-A", "--user-agent", "-o", "--output", "-b", "--cookie"})
_METHOD = frozenset({"-X", "--request"})
_WITH_VALUE = _METHOD | _BODY | _TRANSPORT | {"--url"}
_MANNERS = re.compile(r"-[sSLkivfg]+|--(?:silent|location|insecure|include|verbose|fail|compressed|globoff|show-error)")


def read_curl(command: str, tools: Mapping[str, Tool]) -> ReadCall:
    """Read a command that begins with `curl`; Unreadable says why it cannot be read."""
    request = _request(iter(_words(command)[1:]))
    body = "&".join(request.data)
    name, texts = _named(request.method or ("POST" if request.data else "GET"), request, tools)
    given: Mapping[str, Json] = {}
    notes: list[str] = []
    if body.lstrip().startswith(("{", "[")):
        given, doubled = arguments_from_wire(body)
        notes.extend(doubled)
    else:
        texts += _pairs(body)
    schemas = schemas_of(tools.get(name))
    arguments: dict[str, Json] = {}
    for key, value in texts:
        if key in arguments:
            raise Unreadable(f"the argument {shortened(key)} is given twice")
        arguments[key], remarks = value_by_schema(value, schemas.get(key), "text")
        notes.extend(remarks)
    if twice := next((key for key in given if key in arguments), None):
        raise Unreadable(f"the argument {shortened(twice)} stands both in the URL and in the body")
    dropped = (f"The option {shortened(each)} was dropped." for each in request.dropped)
    return Call(name, arguments | dict(given)), [*notes, *dropped]


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
                raise Unreadable(f"it asks for more than one URL: {shortened(value)}")
            request.url = value
        elif not _MANNERS.fullmatch(option):
            raise Unreadable(f"the option {shortened(option)} is not known")
    if not request.url:
        raise Unreadable("it names no URL")
    return request


def _options(words: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Options with their values: behind a short one these may stand without a space. A bare word is a URL."""
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
    """Data as it is sent."""
    if option != "--data-urlencode":
        return data
    name, equals, content = data.partition("=")
    return name + equals + quote(content)


def _words(command: str) -> list[str]:
    """The words as a shell reads them; nothing is filled in or run."""
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
    """The name of the tool that is asked for, and the arguments in the URL."""
    try:
        url = urlsplit(request.url if "://" in request.url.partition("?")[0] else f"//{request.url}")
        path = unquote(url.path, errors="strict")
    except ValueError as error:
        raise Unreadable(f"the URL {shortened(request.url)} cannot be read: {error}") from None
    parts = path.strip("/").split("/")
    fitting = [(name, found) for name in tools if (found := _in_path(name, method, parts)) is not None]
    # The tool that says most of the path, and leaves the least of it open.
    fitting.sort(key=lambda each: (each[0].count("/"), -len(each[1])), reverse=True)
    name, in_path = fitting[0] if fitting else (f"{method} {path}", [])
    return name, in_path + _pairs(url.query)


def _in_path(name: str, method: str, parts: Sequence[str]) -> list[tuple[str, str]] | None:
    """The arguments in a path that a tool's name fits, None for any other tool."""
    verb, _, route = name.partition(" ")
    wanted = route.strip("/").split("/")
    if verb.upper() != method or not route.startswith("/") or len(wanted) > len(parts):
        return None
    found: list[tuple[str, str]] = []
    for want, part in zip(wanted, parts[len(parts) - len(wanted) :], strict=True):
        if want.startswith("{") and want.endswith("}"):
            found.append((want[1:-1], part))
        elif want != part:
            return None
    return found


def _pairs(query: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query, keep_blank_values=True, errors="strict")
    except ValueError as error:
        raise Unreadable(f"{shortened(query)} cannot be read: {error}") from None

"""`environment: http`: calls that are requests over HTTP. Nothing is sent to a host that was not allowed by name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import quote, urlencode

from pytest_fcall.conversation.environments.context import EnvironmentContext, HostRefused, ResultRecorder, source_name
from pytest_fcall.conversation.execution.limits import EnvironmentFailed
from pytest_fcall.core.conversation import CallResult, ConversationSettings
from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, mapping_or_empty
from pytest_fcall.schema.errors import SchemaError

if TYPE_CHECKING:
    from pytest_fcall.conversation.environments.http_sender import ConversationSender

QueryPairs: TypeAlias = list[tuple[str, str]]
ParameterStyle: TypeAlias = Mapping[str, Json]
"""The form in which an OpenAPI document has a parameter written: `style`, `explode`, `media_type`."""

_BETWEEN: Final = {"form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}


class HttpEnvironment:
    """Sends calls as requests. A recorded answer to the same request at the same point is used again, like a reply."""

    def __init__(self, tools: Mapping[str, Tool], server: str, context: EnvironmentContext) -> None:
        self._tools = tools
        self._server = server
        self._context = context
        self._recorder = ResultRecorder(context.result_store, reuse=True)
        self._sender: ConversationSender | None = None

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Send a request, or look up its recorded answer. Raises ResultNotRecorded and core.Unanswered."""
        offered = self._tools[tool]
        try:
            call = Call(source_name(offered), arguments)
            request = http_request_of(call, offered, self._server or server_of(offered))
        except NotSendable as error:
            return CallResult(error=str(error))
        return await self._recorder.result(
            tool, request.to_data(), lambda: self._send(request), changes=request.changes
        )

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """An error: a web server has no state that can be read."""
        return CallResult(
            error=f"no {', '.join(names or ['state'])} can be read of a web server: expect what tools say"
        )

    async def close(self) -> None:
        """Close all connections."""
        if self._sender is not None:
            await self._sender.close()

    async def _send(self, request: HttpRequest) -> CallResult:
        if self._sender is None:
            from pytest_fcall.conversation.environments.http_sender import ConversationSender

            self._sender = ConversationSender(self._context.hosts, self._context.limits)
        return await self._sender.send(request)


def open_http(settings: ConversationSettings, tools: Sequence[Tool], context: EnvironmentContext) -> HttpEnvironment:
    """Make the environment of these tools. Raises EnvironmentFailed for a tool or a server that cannot be asked."""
    server = settings.setup.get("server", "")
    if not isinstance(server, str) or settings.setup.keys() - {"server"}:
        raise EnvironmentFailed("the `setup` of `environment: http` must be `server: ADDRESS` and nothing else")
    for tool in tools:
        _check_sendable(tool, server)
    if not (context.result_store and context.result_store.offline):
        for each in {server} if server else {*map(server_of, tools)}:
            _check_host(each, context)
    return HttpEnvironment({tool.name: tool for tool in tools}, server, context)


def _check_sendable(tool: Tool, server: str) -> None:
    if not _is_sendable(tool):
        raise EnvironmentFailed(
            f"`environment: http` sends requests, and the tool `{tool.name}` is not one: take it from an `openapi:` "
            "source, or give it a stub"
        )
    if not (server or server_of(tool) or source_name(tool).startswith("requests.")):
        raise EnvironmentFailed(f"no server for `{tool.name}`; name it: `setup: {{server: https://…}}`")


def _check_host(server: str, context: EnvironmentContext) -> None:
    """Refuse a server before the model is asked: people can allow it, a model cannot."""
    from yarl import URL

    if not server:
        return
    try:
        context.hosts.check(URL(server))
        context.hosts.headers_for(URL(server))
    except (HostRefused, SchemaError) as error:
        raise EnvironmentFailed(str(error)) from None
    except ValueError as error:
        raise EnvironmentFailed(f"{server!r} is not the address of a web server: {error}") from None


class NotSendable(ValueError):
    """A call cannot be sent as a request. The text says why; a model reads it."""


def _query_pairs(name: str, value: Json, style: ParameterStyle) -> QueryPairs:
    """An argument as pairs of a query; none for null."""
    if value is None:
        return []
    kind = str(style.get("style", "form"))
    explode = style.get("explode", kind == "form") is True
    if style.get("media_type"):
        return [(name, _json(value))]
    if isinstance(value, Mapping):
        if kind == "deepObject":
            return [(f"{name}[{key}]", _plain(item)) for key, item in value.items()]
        if explode:
            return [(key, _plain(item)) for key, item in value.items()]
        return [(name, ",".join(part for key, item in value.items() for part in (key, _plain(item))))]
    if isinstance(value, list | tuple):
        texts = [_plain(item) for item in value]
        return [(name, each) for each in texts] if explode else [(name, _BETWEEN.get(kind, ",").join(texts))]
    return [(name, _plain(value))]


def _header_text(value: Json, style: ParameterStyle) -> str:
    """A value as text of a header, or of a path before it is encoded."""
    if style.get("media_type"):
        return _json(value)
    if isinstance(value, Mapping):
        sign = "=" if style.get("explode") is True else ","
        return ",".join(f"{key}{sign}{_plain(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ",".join(map(_plain, value))
    return _plain(value)


def _path_part(value: Json, style: ParameterStyle) -> str:
    """A value as one encoded part of a path. Raises NotSendable for values that would lead out of it, such as `..`."""
    text = _header_text(value, style)
    if text in {"", ".", ".."}:
        raise NotSendable(f"{text!r} cannot be a part of a path")
    return quote(text, safe="", errors="replace")


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Json) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise NotSendable(f"the arguments are not JSON: {error}") from None


_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_IN_URL: Final = ("get", "delete", "head", "options", "trace")
_ROUTE = re.compile(rf"({'|'.join(_METHODS)})\s+(/\S*)", re.IGNORECASE)
_REQUESTS = re.compile(rf"(?:requests\.)({'|'.join(_METHODS)})")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_REQUESTS_OPTIONS: Final = frozenset({"timeout", "allow_redirects", "stream", "verify"})
"""Arguments of `requests` about the connection; the model cannot set them."""
_CONNECTION_HEADERS = re.compile(
    r"host|content-length|transfer-encoding|connection|upgrade|te|trailer|expect|accept-encoding|proxy-.*",
    re.IGNORECASE,
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request, without credentials."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None

    @property
    def changes(self) -> bool:
        """Whether the request may change something on the server."""
        return self.method not in {"GET", "HEAD", "OPTIONS"}

    def to_data(self) -> dict[str, Json]:
        """The request as JSON: for people, and for the key of its recorded result."""
        return {"method": self.method, "url": self.url, "headers": dict(self.headers), "body": self.body}


def http_request_of(call: Call, tool: Tool | None = None, server: str = "") -> HttpRequest:
    """The request of a call. Raises NotSendable.

    A tool of an `openapi:` source describes it. Otherwise the call is named like a request, `GET /route/{id}`, as read
    from curl commands, or like a function of the library `requests`. `server` precedes routes, and replaces the server
    that the document names.
    """
    operation = (tool.origin or {}).get("openapi") if tool else None
    if isinstance(operation, Mapping):
        return _of_operation(operation, call, server)
    if found := _ROUTE.fullmatch(call.name):
        return _of_route(found[1].lower(), found[2], call, server)
    if found := _REQUESTS.fullmatch(call.name):
        return _of_requests(found[1], call.arguments)
    raise NotSendable(
        f"`{call.name[:100]}` is not a request: it has no `openapi:` source and no name such as `GET /route`"
    )


def _is_sendable(tool: Tool) -> bool:
    """Whether calls of the tool can be sent as requests."""
    return "openapi" in (tool.origin or {}) or any(form.fullmatch(source_name(tool)) for form in (_ROUTE, _REQUESTS))


def server_of(tool: Tool) -> str:
    """The server that the tool's document names; empty where it names none."""
    operation = (tool.origin or {}).get("openapi")
    server = operation.get("server") if isinstance(operation, Mapping) else None
    return server if isinstance(server, str) and "://" in server else ""


def _of_operation(operation: Mapping[str, Json], call: Call, server: str) -> HttpRequest:
    places, method = mapping_or_empty(operation.get("parameters")), str(operation.get("method"))
    route, kind = str(operation.get("path")), operation.get("media_type")
    path: dict[str, str] = {}
    query: QueryPairs = []
    headers: dict[str, str] = {}
    body: dict[str, Json] = {}
    for name, value in call.arguments.items():
        place = mapping_or_empty(places.get(name))
        wire = str(place.get("name", name))
        match place.get("in", "body"):
            case "path":
                path[wire] = _path_part(value, place)
            case "query":
                query += _query_pairs(wire, value, place)
            case "header" if value is not None:
                headers[wire] = _header_text(value, place)
            case "body" if kind and place.get("whole"):
                return _request(method, _url(server, route, path, query), headers, value, str(kind))
            case "body" if kind:
                body[wire] = value
            case "body":
                raise NotSendable(f"`{call.name}` has no argument `{name[:100]}`")
    return _request(method, _url(server, route, path, query), headers, body or None, str(kind or ""))


def _of_route(method: str, route: str, call: Call, server: str) -> HttpRequest:
    names = set(_PLACEHOLDER.findall(route))
    path = {name: _path_part(value, {}) for name, value in call.arguments.items() if name in names}
    rest: dict[str, Json] = {name: value for name, value in call.arguments.items() if name not in names}
    if method in _IN_URL:
        query = [pair for name, value in rest.items() for pair in _query_pairs(name, value, {})]
        return _request(method, _url(server, route, path, query), {}, None, "")
    return _request(method, _url(server, route, path, []), {}, rest or None, "application/json")


def _of_requests(method: str, arguments: Mapping[str, Json]) -> HttpRequest:
    match {name: value for name, value in arguments.items() if value is not None and name not in _REQUESTS_OPTIONS}:
        case {"url": str(url), **rest} if rest.keys() <= {"params", "headers", "json", "data"}:
            query = _form_pairs(rest.get("params"))
            headers = {name: _header_text(value, {}) for name, value in mapping_or_empty(rest.get("headers")).items()}
            content, kind = (rest["data"], _FORM) if "data" in rest else (rest.get("json"), "application/json")
            return _request(method, _with_query(url, query), headers, content, kind)
    raise NotSendable("a request needs `url`, and can have `params`, `headers`, `json` or `data`; nothing else")


def _request(method: str, url: str, headers: Mapping[str, str], content: Json, kind: str) -> HttpRequest:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or _CONNECTION_HEADERS.fullmatch(name):
            raise NotSendable(f"`{name[:100]}` is not a header that may be sent")
        if not (value.isascii() and (value.isprintable() or not value)):
            raise NotSendable(f"the header `{name}` contains a character that is not allowed in headers")
    if content is None:
        return HttpRequest(method.upper(), url, headers)
    return HttpRequest(method.upper(), url, {**headers, "Content-Type": kind}, _body(content, kind))


def _form_pairs(fields: Json) -> list[tuple[str, str]]:
    return [pair for name, value in mapping_or_empty(fields).items() for pair in _query_pairs(name, value, {})]


def _body(content: Json, kind: str) -> str:
    plain = kind.partition(";")[0].strip().lower()
    if plain == _FORM:
        if isinstance(content, str):
            return content
        return urlencode(_form_pairs(content))
    if plain.startswith("multipart/"):
        raise NotSendable(f"a body of type {plain} is not supported")
    if isinstance(content, str) and not (plain == "application/json" or plain.endswith("+json")):
        return content
    return _json(content)


def _url(server: str, route: str, path: Mapping[str, str], query: QueryPairs) -> str:
    def filled(found: re.Match[str]) -> str:
        if found[1] not in path:
            raise NotSendable(f"the argument `{found[1]}` is missing")
        return path[found[1]]

    return _with_query(server.rstrip("/") + _PLACEHOLDER.sub(filled, route), query)


def _with_query(url: str, query: QueryPairs) -> str:
    if not query:
        return url
    address, hash_sign, fragment = url.partition("#")
    return address + ("&" if "?" in address else "?") + urlencode(query, errors="replace") + hash_sign + fragment

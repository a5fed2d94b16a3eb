"""`http:URL`: the team's own app behind an address, in any language.

JMESPath expressions in the settings may build the request body and find the reply in the answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_fcall.backends.apps.answers.answer import reply_of
from pytest_fcall.backends.apps.expressions import find_answer, is_jmespath, is_template, request_body, unknown_name
from pytest_fcall.backends.apps.python import CopyableTools, app_request
from pytest_fcall.backends.http_answers import (
    ACCEPTED_ENCODINGS,
    MOST_REDIRECTS,
    REDIRECTS,
    WITHOUT_BODY,
    RedirectError,
    UnreadableBody,
    parse_body,
    redirect_target,
    whole_body,
)
from pytest_fcall.backends.provider_failures import Redactor, long_secrets
from pytest_fcall.backends.proxy.case_lookup import CASE_TAG
from pytest_fcall.backends.redaction import secrets_of_request
from pytest_fcall.backends.request_json import pretty_json
from pytest_fcall.backends.servers.command import PORT_PLACEHOLDER, Command, command_words
from pytest_fcall.backends.settings import (
    ModelEntry,
    Option,
    SettingsError,
    ascii_lines_option,
    flag_option,
    seconds_option,
    volatile_option,
)
from pytest_fcall.core.backend import CaseRefused, Model, ModelUnavailable, Unanswered
from pytest_fcall.core.json_data import optional_field, optional_number, optional_strings, required_field
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from pytest_fcall.backends.servers.shared_server import SharedServer


def _is_command(value: Json) -> bool:
    try:
        return isinstance(value, str) and bool(command_words(value))
    except ValueError:
        return False


def _is_path(value: Json) -> bool:
    return isinstance(value, str) and value.startswith("/") and value.isascii() and value.isprintable()


DEFAULT_TIMEOUT = 300.0
_START_SECONDS = 120.0
"""The default of `serve_timeout`. It is shorter than for models, since an app has no weights to load."""
_HEALTH = "/"
OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "request": Option('names with JMESPath expressions, such as {question = "prompt"}', is_template),
        "response": Option("a JMESPath expression, such as answer.message", is_jmespath),
        "headers": ascii_lines_option(),
        "timeout": seconds_option(),
        "forwards": flag_option(affects_reply=False),
        "serve": Option("a command such as `node server.js`", _is_command, affects_reply=False),
        "serve_timeout": seconds_option(),
        "health": Option("a path such as /health", _is_path, affects_reply=False),
        "environment": ascii_lines_option(),
        "volatile": volatile_option(),
    }
)


@dataclass(frozen=True, slots=True)
class HttpApp:
    """The settings of an app."""

    url: str
    settings: Mapping[str, Json]
    """Those that its replies depend on."""
    request: Mapping[str, Json] | None
    response: str | None
    headers: Mapping[str, str]
    timeout: float
    forwards_case: bool
    """Whether the app passes the case's headers on, so that it can work on several cases at once."""
    command: Command | None
    """Starts the app."""


def http_app(model: Model, entry: ModelEntry, root: Path) -> HttpApp:
    """Read an app's settings. Raises SettingsError."""
    from pytest_fcall.backends.proxy.variables import is_http_address

    settings = entry.settings
    url = entry.name if "://" in entry.name else f"http://{entry.name}"
    if ("serve" in settings) != (PORT_PLACEHOLDER in url):
        fault = (
            f"must contain {PORT_PLACEHOLDER}, because of `serve`"
            if "serve" in settings
            else f"contains {PORT_PLACEHOLDER}, but there is no `serve`: add it"
        )
        raise SettingsError(f"{model.id}: the address {fault}, as in http:http://127.0.0.1:{PORT_PLACEHOLDER}/chat")
    if not is_http_address(url.replace(PORT_PLACEHOLDER, "1")) or "@" in url:
        from pytest_fcall.core.message_text import clauses, suggestion

        text = f"{model.id}: write the address in full, such as http:http://127.0.0.1:8000/chat"
        meant = f"http:http:{entry.name}" if entry.name.startswith("//") else None
        raise SettingsError(clauses(text, suggestion(meant)))
    request = optional_field(settings, "request", dict)
    if fault := unknown_name(request or {}):
        raise SettingsError(f"{model.id}: {fault}")
    return HttpApp(
        url=url,
        settings=entry.reply_settings,
        request=request,
        response=optional_field(settings, "response", str),
        headers=optional_strings(settings, "headers") or {},
        timeout=optional_number(settings, "timeout") or DEFAULT_TIMEOUT,
        forwards_case=settings.get("forwards") is True,
        command=_command(url, settings, root) if "serve" in settings else None,
    )


def _command(url: str, settings: Mapping[str, Json], root: Path) -> Command:
    return Command(
        command_words(required_field(settings, "serve", str)),
        url,
        root.absolute(),
        optional_number(settings, "serve_timeout") or _START_SECONDS,
        {"PORT": PORT_PLACEHOLDER, **(optional_strings(settings, "environment") or {})},
        optional_field(settings, "health", str) or _HEALTH,
    )


_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE)
_WRONG_ADDRESS = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
_UNAUTHORISED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class HttpBackend:
    """Posts requests to an app, and reads replies from its answers."""

    reusable = False
    ahead = True

    def __init__(self, model: Model, app: HttpApp) -> None:
        self.settings: Mapping[str, Json] = app.settings
        self.forwards_case = app.forwards_case
        self.started_by_hand = app.command is None
        self._model = model
        self._app = app
        self._session: ClientSession | None = None
        self._shared_server: SharedServer | None = None

    async def complete(self, request: Request) -> Reply:
        """Answer by asking the app. Its answer may have any form that an app in Python may return."""
        url = await self._address()
        body = self._body(request)
        server = self._shared_server
        logged = server.log_size if server else 0
        started = time.perf_counter()
        try:
            status, content = await self._post(url, body)
        except Unanswered as error:
            if not (log := await server.logged(logged) if server else ""):
                raise
            text = f"{error}; {self._redactor.redacted(log)}"
            raise Unanswered(text, unreachable=error.unreachable) from None
        if status >= HTTPStatus.BAD_REQUEST:
            log = await server.logged(logged) if server and status >= HTTPStatus.INTERNAL_SERVER_ERROR else ""
            raise self._failure(status, content, log)
        answer = self._read(content)
        messages = body.get("messages")
        sent = messages if isinstance(messages, list) else [dict(message) for message in request.messages]
        reply = reply_of(find_answer(answer, self._app.response), sent)
        return replace(reply, seconds=time.perf_counter() - started)

    def prompt(self, request: Request) -> str:
        """The body that is sent. Raises CaseRefused."""
        return pretty_json(self._body(request))

    async def close(self) -> None:
        """Close all connections. A server that was started ends with its last user."""
        if self._session is not None:
            await self._session.close()
        if self._shared_server is not None:
            await self._shared_server.close()

    def _client(self) -> ClientSession:
        """The client, without cookies, which would lead from one case to another, and without a limit of its own."""
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(self._app.timeout),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
            )
        return self._session

    def _body(self, request: Request) -> dict[str, Any]:
        case_settings = {name: value for name, value in request.settings.items() if name not in self.settings}
        app_form = app_request(replace(request, settings=case_settings), CopyableTools(request.tools))
        try:
            body: dict[str, Any] = request_body(app_form, self._app.request)
        except ValueError as error:
            raise CaseRefused(self._message(str(error))) from None
        return body

    async def _address(self) -> str:
        if self._app.command is None:
            return self._app.url
        if self._shared_server is None:
            from pytest_fcall.backends.servers.shared_server import SharedServer

            # Each run has a proxy of its own, whose address makes the server of an app this run's own.
            environment = {**self._app.command.environment, **CASE_TAG.get().variables}
            self._shared_server = SharedServer(replace(self._app.command, environment=environment))
        try:
            return (await self._shared_server.address()).url
        except ModelUnavailable as error:
            raise ModelUnavailable(f"{self._model.id}: {self._redactor.redacted(str(error))}") from None

    def _read(self, content: bytes) -> Json:
        """The JSON of an answer. Raises CaseRefused."""
        try:
            return parse_body(content)
        except ValueError as error:
            what = error if content.strip() else "empty"
            raise CaseRefused(self._message(f"the app's answer is {what}", _text(content))) from None

    async def _post(self, url: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
        import aiohttp

        headers = {
            "Accept-Encoding": ACCEPTED_ENCODINGS,
            "Content-Type": "application/json",
            **CASE_TAG.get().headers,
            **self._app.headers,
        }
        request = {"data": json.dumps(body).encode(), "headers": headers}
        try:
            return await self._follow(url, request)
        except TimeoutError:
            failure = f"the app did not answer within {self._app.timeout:g} s (`timeout`)"
            raise Unanswered(self._message(failure)) from None
        except aiohttp.ClientSSLError:
            raise ModelUnavailable(self._message("the app's certificate is not trusted, or it speaks no TLS")) from None
        except aiohttp.ClientConnectorError as error:
            reason = error.os_error.strerror or "the host was not found"
            failure = f"no connection ({reason}): is the app running? `serve` starts it"
            raise Unanswered(self._message(failure), unreachable=True) from None
        except aiohttp.ClientError as error:
            failure = f"the connection to the app broke ({type(error).__name__})"
            raise Unanswered(self._message(failure)) from None
        except UnreadableBody as error:
            raise CaseRefused(self._message(f"the app's answer {error}")) from None
        except RedirectError as error:
            raise ModelUnavailable(self._message(str(error))) from None

    async def _follow(self, url: str, request: dict[str, Any]) -> tuple[int, bytes]:
        """Post a request, and follow redirects at the same server. Raises RedirectError and UnreadableBody."""
        from yarl import URL

        method, target = "POST", URL(url)
        for _ in range(MOST_REDIRECTS + 1):
            async with self._client().request(method, target, **request, allow_redirects=False) as answer:
                if answer.status not in REDIRECTS or "Location" not in answer.headers:
                    return answer.status, await whole_body(answer)
                target = redirect_target(target, answer.headers["Location"])
                if answer.status in WITHOUT_BODY:
                    method, request = "GET", {**request, "data": None}
        raise RedirectError(f"there are more than {MOST_REDIRECTS} redirects in a row")

    def _failure(self, status: int, content: bytes, log: str) -> Exception:
        text = _text(content)
        if status in _BUSY:
            return Unanswered(self._message(f"HTTP {status}", text))
        if status in _WRONG_ADDRESS:
            return ModelUnavailable(self._message(f"HTTP {status}: the app takes no POST at this address", text))
        if status in _UNAUTHORISED:
            return ModelUnavailable(
                self._message(f"HTTP {status}: the app requires authentication; set `headers`", text)
            )
        failure = self._message(f"the app failed: HTTP {status}", text)
        return CaseRefused(f"{failure}; {self._redactor.redacted(log)}" if log else failure)

    def _message(self, *parts: str) -> str:
        return self._redactor.message(*parts)

    @property
    def _redactor(self) -> Redactor:
        secrets = [*secrets_of_request("", self._app.headers, None)]
        if self._app.command is not None:
            secrets += self._app.command.environment.values()
        return Redactor(self._model.id, long_secrets(secrets))


def _text(content: bytes) -> str:
    return " ".join(content[:2000].decode(errors="replace").split())

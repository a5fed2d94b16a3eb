"""`http:URL`: the team's own app behind an address, whatever language it is written in.

JMESPath expressions may shape the request, and find the reply in the answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from pytest_fcall.backends.apps.python import AnswerError, AppRequest, CopyableTools, app_request, reply_of
from pytest_fcall.backends.pretty_json import pretty_json
from pytest_fcall.backends.provider_failures import Redactor, long_secrets
from pytest_fcall.backends.proxy.case_lookup import CASE_TAG
from pytest_fcall.backends.redaction import secrets_of_request
from pytest_fcall.backends.servers.command import PORT_PLACEHOLDER, Command, command_words
from pytest_fcall.backends.settings import ModelEntry, Option, SettingsError, number_option, table_option
from pytest_fcall.core import CaseRefused, Json, Model, ModelUnavailable, Reply, Request, Unanswered

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from jmespath.parser import ParsedResult

    from pytest_fcall.backends.servers.shared_server import SharedServer


def is_jmespath(value: Json) -> bool:
    """Whether it is JMESPath."""
    from jmespath.exceptions import JMESPathError

    try:
        return isinstance(value, str) and bool(_compiled(value))
    except (JMESPathError, RecursionError):
        return False


def is_template(value: Json) -> bool:
    """Whether it is a mapping, however deep, with JMESPath at its ends."""
    if isinstance(value, Mapping):
        return bool(value) and all(is_jmespath(item) or is_template(item) for item in value.values())
    return False


def request_body(asked: AppRequest, shape: Mapping[str, Any] | None) -> Any:
    """The body to send: in OpenAI's form unless a shape says otherwise. Raises ValueError, in words."""
    if shape is None:
        return {"messages": asked.messages, **({"tools": asked.tools} if asked.tools else {}), **asked.settings}
    told = {
        "messages": asked.messages,
        "tools": asked.tools,
        "settings": asked.settings,
        "prompt": next((each.get("content") for each in reversed(asked.messages) if each.get("role") == "user"), None),
        "now": asked.now.isoformat() if asked.now else None,
    }
    return _filled_template(shape, told, "request")


def find_answer(answer: Any, expression: str | None) -> Any:
    """What the app says, in one of the forms that an app may answer in. Raises AnswerError where there is nothing."""
    if expression is None:
        return answer
    try:
        found = _search(expression, answer, "response")
    except ValueError as error:
        raise AnswerError(str(error)) from None
    if found is None:
        raise AnswerError(f"`response` finds nothing: there is no {expression} in the app's answer")
    return found


def _filled_template(shape: Mapping[str, Any], told: Mapping[str, Any], path: str) -> dict[str, Any]:
    return {
        name: _filled_template(inner, told, f"{path}.{name}")
        if isinstance(inner, Mapping)
        else _search(inner, told, f"{path}.{name}")
        for name, inner in shape.items()
    }


def _search(expression: str, data: Any, where: str) -> Any:
    from jmespath.exceptions import JMESPathError

    try:
        return _compiled(expression).search(data)
    except (JMESPathError, RecursionError, TypeError, ValueError) as error:
        told = " ".join(str(error).split())[:200]
        raise ValueError(f"`{where}` cannot be worked out: {told}") from None


@lru_cache(maxsize=64)
def _compiled(expression: str) -> ParsedResult:
    import jmespath

    return jmespath.compile(expression)


DEFAULT_TIMEOUT = 300.0


def _is_command(value: Json) -> bool:
    try:
        return isinstance(value, str) and bool(command_words(value))
    except ValueError:
        return False


def _parsed_flag(written: str) -> Json:
    return {"true": True, "false": False}.get(written)


def _is_path(value: Json) -> bool:
    return isinstance(value, str) and value.startswith("/") and value.isascii() and value.isprintable()


OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "request": Option('names with JMESPath expressions, such as {question = "prompt"}', is_template),
        "response": Option("a JMESPath expression, such as answer.message", is_jmespath),
        "headers": table_option("names and texts in one line of ASCII each", of_texts=True, shapes=False),
        "timeout": number_option("a number of seconds above zero", 0, above=True, shapes=False),
        "forwards": Option("true or false", lambda value: isinstance(value, bool), _parsed_flag, shapes=False),
        "serve": Option("a command such as `node server.js`", _is_command, shapes=False),
        "serve_timeout": number_option("a number of seconds above zero", 0, above=True, shapes=False),
        "health": Option("a path such as /health", _is_path, shapes=False),
        "environment": table_option("names and texts in one line of ASCII each", of_texts=True, shapes=False),
    }
)


_HEALTH = "/"
_START_SECONDS = 120.0
"""Seconds for an app to start, unless `serve_timeout` says otherwise: it has no model to load."""


@dataclass(frozen=True, slots=True)
class HttpApp:
    """What is set for an app."""

    url: str
    settings: Mapping[str, Json]
    """What its answer depends on."""
    request: Mapping[str, Json] | None
    response: str | None
    headers: Mapping[str, str]
    timeout: float
    forwards: bool
    """Whether it passes on which case it works on, so that it may work on several at once."""
    command: Command | None
    """What is to be started before it can be asked."""


def http_app(model: Model, entry: ModelEntry, root: Path) -> HttpApp:
    """Read what is set. Raises BadSettings."""
    from pytest_fcall.backends.proxy.variables import is_http_address

    given = entry.settings
    url = entry.name if "://" in entry.name else f"http://{entry.name}"
    served = "serve" in given
    if served != (PORT_PLACEHOLDER in url):
        told = "must hold {port}" if served else "holds {port}, and nothing is started there: add `serve`"
        raise SettingsError(f"{model.id}: the address {told}, as in http:http://127.0.0.1:{PORT_PLACEHOLDER}/chat")
    if not is_http_address(url.replace(PORT_PLACEHOLDER, "1")) or "@" in url:
        raise SettingsError(f"{model.id}: write the address whole, such as http:http://127.0.0.1:8000/chat")
    return HttpApp(
        url=url,
        settings={name: given[name] for name in ("request", "response") if name in given},
        request=cast("Mapping[str, Json] | None", given.get("request")),
        response=cast("str | None", given.get("response")),
        headers=cast("Mapping[str, str]", given.get("headers", {})),
        timeout=cast("float", given.get("timeout", DEFAULT_TIMEOUT)),
        forwards=given.get("forwards") is True,
        command=_command(url, given, root) if served else None,
    )


def _command(url: str, given: Mapping[str, Json], root: Path) -> Command:
    environment = {"PORT": PORT_PLACEHOLDER, **cast("Mapping[str, str]", given.get("environment", {}))}
    return Command(
        command_words(cast("str", given["serve"])),
        url,
        root.absolute(),
        cast("float", given.get("serve_timeout", _START_SECONDS)),
        environment,
        cast("str", given.get("health", _HEALTH)),
    )


_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE)
_WRONG_ADDRESS = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
_UNAUTHORISED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class HttpBackend:
    """Puts requests into the form that the app takes, and reads replies out of its answers."""

    reusable = False
    ahead = True

    def __init__(self, model: Model, app: HttpApp) -> None:
        self.settings: Mapping[str, Json] = app.settings
        self._model = model
        self._app = app
        self.forwards = app.forwards
        self.by_hand = app.command is None
        self._session: ClientSession | None = None
        self._served: SharedServer | None = None

    async def complete(self, request: Request) -> Reply:
        """Answer by asking the app. What it answers may have any form that an app in Python may return."""
        url = await self._address()
        body = self._body(request)
        started = time.perf_counter()
        status, content = await self._post(url, body)
        if status >= HTTPStatus.BAD_REQUEST:
            raise self._failure(status, content)
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise CaseRefused(self._say("the app's answer is no JSON", _text(content))) from None
        messages = body.get("messages")
        asked = messages if isinstance(messages, list) else [dict(message) for message in request.messages]
        reply = reply_of(find_answer(answer, self._app.response), asked)
        return replace(reply, seconds=time.perf_counter() - started)

    def prompt(self, request: Request) -> str:
        """The body that is sent. Raises CaseRefused."""
        return pretty_json(self._body(request))

    async def close(self) -> None:
        """Close all connections; what was started ends with its last user."""
        if self._session is not None:
            await self._session.close()
        if self._served is not None:
            await self._served.close()

    def _body(self, request: Request) -> dict[str, Any]:
        ours = {name: value for name, value in request.settings.items() if name not in self.settings}
        asked = app_request(replace(request, settings=ours), CopyableTools(request.tools))
        try:
            body: dict[str, Any] = request_body(asked, self._app.request)
        except ValueError as error:
            raise CaseRefused(self._say(str(error))) from None
        return body

    async def _address(self) -> str:
        if self._app.command is None:
            return self._app.url
        if self._served is None:
            from pytest_fcall.backends.servers.shared_server import SharedServer

            # Where its models are asked through a proxy, the app is this run's own: each run has a proxy of its own.
            environment = {**self._app.command.environment, **CASE_TAG.get().variables}
            self._served = SharedServer(replace(self._app.command, environment=environment))
        try:
            return (await self._served.address()).url
        except ModelUnavailable as error:
            raise ModelUnavailable(f"{self._model.id}: {self._teller.cleared(str(error))}") from None

    async def _post(self, url: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(self._app.timeout))
        headers = {"Content-Type": "application/json", **CASE_TAG.get().headers, **self._app.headers}
        data = json.dumps(body).encode()
        try:
            async with self._session.post(url, data=data, headers=headers) as came:
                return came.status, await came.read()
        except TimeoutError:
            raise Unanswered(self._say(f"the app did not answer within {self._app.timeout:g} s (`timeout`)")) from None
        except aiohttp.ClientConnectorError as error:
            told = error.os_error.strerror or "there is no such host"
            raise Unanswered(self._say(f"no connection ({told}): is the app running? `serve` starts it")) from None
        except aiohttp.ClientError as error:
            raise Unanswered(self._say(f"the connection to the app broke ({type(error).__name__})")) from None

    def _failure(self, status: int, content: bytes) -> Exception:
        """Whose fault it is that there is no answer."""
        told = _text(content)
        if status in _BUSY:
            return Unanswered(self._say(f"HTTP {status}", told))
        if status in _WRONG_ADDRESS:
            return ModelUnavailable(self._say(f"HTTP {status}: the app takes no POST at this address", told))
        if status in _UNAUTHORISED:
            return ModelUnavailable(
                self._say(f"HTTP {status}: the app lets nobody in; `headers` may say who asks", told)
            )
        return CaseRefused(self._say(f"the app failed: HTTP {status}", told))

    def _say(self, *parts: str) -> str:
        return self._teller.say(*parts)

    @property
    def _teller(self) -> Redactor:
        hidden = [*secrets_of_request("", self._app.headers, None)]
        if self._app.command is not None:
            hidden += self._app.command.environment.values()
        return Redactor(self._model.id, long_secrets(hidden))


def _text(content: bytes) -> str:
    return " ".join(content[:2000].decode(errors="replace").split())

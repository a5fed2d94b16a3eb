"""Asks an app over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pytest_fcall.backends.answers import reply_of
from pytest_fcall.backends.errors import Teller, worth_hiding
from pytest_fcall.backends.http.app import App
from pytest_fcall.backends.http.shapes import read, written
from pytest_fcall.backends.proxy.runs import TIE
from pytest_fcall.backends.python import Catalogue, app_request
from pytest_fcall.backends.secrets import secrets_sent
from pytest_fcall.backends.showing import json_text
from pytest_fcall.core import CaseRefused, Json, Model, ModelUnavailable, Reply, Request, Unanswered

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from pytest_fcall.backends.serving.served import Served

_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE)
_ELSEWHERE = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
_CLOSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class HttpBackend:
    """Puts requests into the form that the app takes, and reads replies out of its answers."""

    reusable = False
    ahead = True

    def __init__(self, model: Model, app: App) -> None:
        self.settings: Mapping[str, Json] = app.settings
        self._model = model
        self._app = app
        self.forwards = app.forwards
        self.by_hand = app.command is None
        self._session: ClientSession | None = None
        self._served: Served | None = None

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
        reply = reply_of(read(answer, self._app.response), asked)
        return replace(reply, seconds=time.perf_counter() - started)

    def prompt(self, request: Request) -> str:
        """The body that is sent. Raises CaseRefused."""
        return json_text(self._body(request))

    async def close(self) -> None:
        """Close all connections; what was started ends with its last user."""
        if self._session is not None:
            await self._session.close()
        if self._served is not None:
            await self._served.close()

    def _body(self, request: Request) -> dict[str, Any]:
        ours = {name: value for name, value in request.settings.items() if name not in self.settings}
        asked = app_request(replace(request, settings=ours), Catalogue(request.tools))
        try:
            body: dict[str, Any] = written(asked, self._app.request)
        except ValueError as error:
            raise CaseRefused(self._say(str(error))) from None
        return body

    async def _address(self) -> str:
        if self._app.command is None:
            return self._app.url
        if self._served is None:
            from pytest_fcall.backends.serving.served import Served

            # Where its models are asked through a proxy, the app is this run's own: each run has a proxy of its own.
            environment = {**self._app.command.environment, **TIE.get().variables}
            self._served = Served(replace(self._app.command, environment=environment))
        try:
            return (await self._served.address()).url
        except ModelUnavailable as error:
            raise ModelUnavailable(f"{self._model.id}: {self._teller.cleared(str(error))}") from None

    async def _post(self, url: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(self._app.timeout))
        headers = {"Content-Type": "application/json", **TIE.get().headers, **self._app.headers}
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
        if status in _ELSEWHERE:
            return ModelUnavailable(self._say(f"HTTP {status}: the app takes no POST at this address", told))
        if status in _CLOSED:
            return ModelUnavailable(
                self._say(f"HTTP {status}: the app lets nobody in; `headers` may say who asks", told)
            )
        return CaseRefused(self._say(f"the app failed: HTTP {status}", told))

    def _say(self, *parts: str) -> str:
        return self._teller.say(*parts)

    @property
    def _teller(self) -> Teller:
        hidden = [*secrets_sent("", self._app.headers, None)]
        if self._app.command is not None:
            hidden += self._app.command.environment.values()
        return Teller(self._model.id, worth_hiding(hidden))


def _text(content: bytes) -> str:
    return " ".join(content[:2000].decode(errors="replace").split())

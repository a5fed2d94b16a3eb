"""Asks a model by Chat Completions or Responses, and tells its failures from those of everything else."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from pytest_fcall.backends.entries import BadSettings, Entry
from pytest_fcall.backends.error_bodies import parsed, read_failure
from pytest_fcall.backends.errors import Failure, Teller, reply_or_raise
from pytest_fcall.backends.openai.chat import CHAT
from pytest_fcall.backends.openai.question import Form, Question, question
from pytest_fcall.backends.openai.responses import RESPONSES
from pytest_fcall.backends.openai.server import server_of
from pytest_fcall.backends.openai.settings import asking, shaping
from pytest_fcall.backends.prompting import STYLES
from pytest_fcall.core import CaseRefused, Json, Model, ModelUnavailable, Reply, Request

if TYPE_CHECKING:
    from pytest_fcall.backends.openai.client import Answered, Client


class OpenAIBackend:
    """Nothing is sent that was not asked for, and nothing is asked twice."""

    reusable = True
    ahead = True

    def __init__(self, model: Model, entry: Entry) -> None:
        self.settings: Mapping[str, Json] = shaping(entry.settings)
        self._model = model
        self._entry = entry
        self._server = server_of(entry.settings)
        self._client: Client | None = None
        if entry.settings.get("mode") == "prompt" and entry.settings.get("decoder", "json") not in STYLES:
            raise BadSettings(f"{model.id}: with `mode=prompt`, `decoder` must be one of {', '.join(STYLES)}")

    async def complete(self, request: Request) -> Reply:
        """Answer `request`; its time is that of the one exchange with the server."""
        try:
            how = asking(self._entry.settings, request.settings)
            asked = question(self._entry.name, request, how, official=self._server.official)
            form = RESPONSES if how.responses else CHAT
            body = _body(form.written(asked), how.extra_body)
        except (ValueError, OSError, RecursionError) as error:
            raise CaseRefused(f"{self._model.id}: {error}") from None
        client = self._opened()
        started = time.perf_counter()
        came = await client.post(form.path, body, how.headers, how.timeout)
        seconds = time.perf_counter() - started
        reply = came if isinstance(came, Failure) else _reply(came, form, asked)
        if isinstance(reply, Failure):
            secrets = self._server.secrets(how.headers, how.extra_body)
            reply = reply_or_raise(reply, Teller(self._model.id, secrets))
        engine = {**reply.engine, "wire": list(asked.out.effects)} if asked.out.effects else reply.engine
        return replace(reply, decoder=asked.decoder, seconds=seconds, engine=engine)

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.close()

    def _opened(self) -> Client:
        from pytest_fcall.backends.openai.client import Client

        if self._client is None:
            try:
                self._client = Client(self._server.url, self._server.key())
            except ValueError as error:
                raise ModelUnavailable(f"{self._model.id}: {error}") from None
        self._client.open()
        return self._client


def _body(written: Mapping[str, Json], extra: Mapping[str, Json]) -> bytes:
    """The body as bytes. Raises ValueError, in words, for what JSON cannot say and for what cannot be read back."""
    body = {**written, **extra}
    if body.get("stream"):
        raise ValueError("`stream` cannot be asked for: answers are read whole")
    try:
        return json.dumps(body, allow_nan=False, default=_plain).encode()
    except TypeError as error:
        raise ValueError(f"the request cannot be sent: {error}") from None


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"it holds a {type(value).__name__}, which JSON has no form for")


def _reply(came: Answered, form: Form, asked: Question) -> Reply | Failure:
    """Read what came, whatever it is."""
    try:
        body = parsed(came.body)
    except ValueError as error:
        if came.status < HTTPStatus.BAD_REQUEST:
            return Failure(_strange(came.body, str(error)))
        body = came.body.decode(errors="replace")
    if came.status < HTTPStatus.BAD_REQUEST and isinstance(body, Mapping):
        reply = form.read(body, asked.out)
        if reply is not None:
            return reply
    failure = read_failure(came.status, body, came.headers)
    return failure if failure.text else Failure("the server's answer is JSON, but none of OpenAI's forms of an answer")


def _strange(body: bytes, fault: str) -> str:
    """What came instead of JSON, in words."""
    start = body.lstrip()[:10]
    if not start:
        return "the server's answer is empty"
    if start.startswith(b"<"):
        return "the server answered with a web page; `base_url` mostly ends in /v1, or is there a proxy in between?"
    if start.startswith((b"data:", b"event:")):
        return "the server streams its answer, which nobody asked for"
    return f"the server's answer is {fault}"

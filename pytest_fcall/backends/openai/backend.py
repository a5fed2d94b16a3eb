"""The backend of `openai:NAME`, by Chat Completions or Responses."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_fcall.backends.openai.chat import CHAT
from pytest_fcall.backends.openai.endpoint import Endpoint, WireRequest, wire_request
from pytest_fcall.backends.openai.responses import RESPONSES
from pytest_fcall.backends.openai.settings import RequestSettings, request_settings, server_of
from pytest_fcall.backends.provider_failures import ProviderFailure, Redactor, reply_or_raise
from pytest_fcall.backends.request_json import json_default, pretty_json
from pytest_fcall.backends.settings import ModelEntry, SettingsError
from pytest_fcall.core.backend import CaseRefused, Model, ModelUnavailable, OfflineBody
from pytest_fcall.core.digests import kept_by_identity
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.backends.batch_server import BatchServer
    from pytest_fcall.backends.openai.client import ServerClient
    from pytest_fcall.backends.openai.server_answer import ServerAnswer
    from pytest_fcall.backends.servers.command import Command
    from pytest_fcall.backends.servers.shared_server import SharedServer


class OpenAIBackend:
    """Sends each request once, and nothing that the case or the model's settings did not ask for."""

    reusable = True
    ahead = True

    def __init__(self, model: Model, entry: ModelEntry, command: Command | None = None) -> None:
        self.settings: Mapping[str, Json] = entry.reply_settings
        self._model = model
        self._entry = entry
        self._server = server_of(entry.settings)
        self._client: ServerClient | None = None
        self._shared_server: SharedServer | None = None
        if command is not None:
            from pytest_fcall.backends.servers.shared_server import SharedServer

            self._shared_server = SharedServer(command)
        if entry.settings.get("mode") == "prompt":
            from pytest_fcall.backends.tool_prompts import DEFAULT_STYLE, STYLES

            if entry.settings.get("decoder", DEFAULT_STYLE) not in STYLES:
                raise SettingsError(f"{model.id}: with `mode=prompt`, `decoder` must be one of {', '.join(STYLES)}")

    async def complete(self, request: Request) -> Reply:
        """Answer `request`; the reply's time is that of the one exchange with the server."""
        prepared = self._prepare(request)
        server_facts = await self._start_server()
        client = self._client_of_loop()
        settings, started = prepared.settings, time.perf_counter()
        answer = await client.post(prepared.endpoint.path, prepared.body, settings.headers, settings.timeout)
        seconds = time.perf_counter() - started
        reply = self._read(prepared, answer)
        return replace(reply, seconds=seconds, engine={**server_facts, **reply.engine})

    async def offline_body(self, request: Request) -> OfflineBody:
        """The body that others can send. Raises CaseRefused."""
        prepared = self._prepare(request)
        return OfflineBody(f"/v1{prepared.endpoint.path}", json.loads(prepared.body))

    async def offline_reply(self, request: Request, status: int, body: bytes) -> Reply:
        """The reply in an answer that others received. Raises as `complete` does."""
        from pytest_fcall.backends.openai.server_answer import ServerAnswer

        return self._read(self._prepare(request), ServerAnswer(status, body, {}))

    def check(self) -> None:
        """Raise ModelUnavailable where the key is missing. A server that is to be started may need none."""
        if self._shared_server is None:
            self._key_and_headers()

    def changes(self, request: Request) -> tuple[str, ...]:
        """The differences between the request and what is sent, one line each. Raises CaseRefused."""
        return self._prepare(request).wire.wire_tools.changes

    def prompt(self, request: Request) -> str:
        """The body that is sent. Raises CaseRefused."""
        return pretty_json(json.loads(self._prepare(request).body))

    async def batch_server(self, request: Request) -> BatchServer:
        """The server that would get the request. Raises CaseRefused and ModelUnavailable."""
        from urllib.parse import parse_qsl

        from pytest_fcall.backends.batch_server import BatchServer

        if self._shared_server is not None:
            raise ModelUnavailable(f"{self._model.id}: a server that is started for a run takes no batches")
        settings = self._prepare(request).settings
        key, headers = self._key_and_headers()
        secrets = self._server.secrets(settings.headers, [settings.sampling, settings.extra_body])
        sent = {"authorization": f"Bearer {key}", **headers, **settings.headers}
        url, _, query = self._server.url.partition("?")
        return BatchServer("openai", url.rstrip("/"), sent, dict(parse_qsl(query)), secrets, self._server.key_variable)

    async def close(self) -> None:
        """Close all connections, and leave the shared server."""
        if self._client is not None:
            await self._client.close()
        if self._shared_server is not None:
            await self._shared_server.close()

    def _read(self, prepared: PreparedRequest, answer: ServerAnswer | ProviderFailure) -> Reply:
        """The reply in an answer. Raises as `complete` does."""
        from pytest_fcall.backends.openai.server_answer import read_answer

        settings, tools = prepared.settings, prepared.wire.wire_tools
        reply = answer if isinstance(answer, ProviderFailure) else read_answer(answer, prepared.endpoint, tools)
        if isinstance(reply, ProviderFailure):
            secrets = self._server.secrets(settings.headers, [settings.sampling, settings.extra_body])
            reply = reply_or_raise(reply, Redactor(self._model.id, secrets, self._server.key_variable))
        engine = {**reply.engine, **({"wire": list(tools.effects)} if tools.effects else {})}
        return replace(reply, decoder=prepared.wire.decoder, engine=engine)

    def _prepare(self, request: Request) -> PreparedRequest:
        try:
            return prepare_request(self._entry.name, self._entry.settings, request, official=self._server.official)
        except (ValueError, OSError, RecursionError) as error:
            raise CaseRefused(f"{self._model.id}: {error}") from None

    async def _start_server(self) -> Mapping[str, Json]:
        """Start the server of `serve`, if there is one, note its address, and return what is known of the server."""
        if self._shared_server is None:
            return {}
        try:
            address = await self._shared_server.address()
        except ModelUnavailable as error:
            redactor = Redactor(self._model.id, self._server.secrets({}, self._entry.settings))
            raise ModelUnavailable(f"{self._model.id}: {redactor.redacted(str(error))}") from None
        self._server = replace(self._server, url=address.url)
        return address.about

    def _client_of_loop(self) -> ServerClient:
        from pytest_fcall.backends.openai.client import ServerClient  # which is slow, and no part of a reply's time

        if self._client is None:
            key, headers = self._key_and_headers()
            self._client = ServerClient(self._server.url, key, headers)
        self._client.open()
        return self._client

    def _key_and_headers(self) -> tuple[str, dict[str, str]]:
        try:
            return self._server.key(), self._server.headers()
        except ValueError as error:
            raise ModelUnavailable(f"{self._model.id}: {error}") from None


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """The body to send, and what is needed to send it and to read the answer."""

    settings: RequestSettings
    wire: WireRequest
    endpoint: Endpoint
    body: bytes


def prepare_request(name: str, settings: Mapping[str, Json], request: Request, *, official: bool) -> PreparedRequest:
    """Prepare `request` for the model that the provider calls `name`.

    Raises ValueError, OSError or RecursionError for a request that cannot be sent.
    """
    joined = request_settings(settings, request.settings)
    wire = wire_request(name, request, joined, official=official)
    endpoint = RESPONSES if joined.uses_responses else CHAT
    return PreparedRequest(joined, wire, endpoint, _body_bytes({**endpoint.request_body(wire), **joined.extra_body}))


def _body_bytes(body: Mapping[str, Json]) -> bytes:
    if body.get("stream"):
        raise ValueError("`stream` is not supported: answers are read whole")
    try:
        text = _json_text({name: value for name, value in body.items() if name != "tools"})
        if "tools" in body:
            text = f'{text[:-1]}, "tools": {_tools_text(body["tools"])}}}'
        return text.encode()
    except TypeError as error:
        raise ValueError(f"the request cannot be sent: {error}") from None


@kept_by_identity(most=256)
def _tools_text(tools: Json) -> str:
    """The tools as JSON. They are most of a body, and requests share them."""
    return _json_text(tools)


def _json_text(value: Json) -> str:
    return json.dumps(value, allow_nan=False, default=json_default)

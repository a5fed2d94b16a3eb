"""The backend of `openai:NAME`, by Chat Completions or Responses."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_fcall.backends.openai.chat import CHAT
from pytest_fcall.backends.openai.responses import RESPONSES
from pytest_fcall.backends.openai.settings import RequestSettings, answer_settings, request_settings, server_of
from pytest_fcall.backends.openai.wire_request import Endpoint, WireRequest, wire_request
from pytest_fcall.backends.pretty_json import pretty_json
from pytest_fcall.backends.provider_failures import ProviderFailure, Redactor, reply_or_raise
from pytest_fcall.backends.settings import ModelEntry, SettingsError
from pytest_fcall.backends.tool_prompts import STYLES
from pytest_fcall.core import CaseRefused, Json, Model, ModelUnavailable, Reply, Request
from pytest_fcall.core.identity_key import IdentityKey

if TYPE_CHECKING:
    from pytest_fcall.backends.openai.client import Client
    from pytest_fcall.backends.servers.command import Command
    from pytest_fcall.backends.servers.shared_server import SharedServer


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """What goes over the wire, and what is needed to read the answer."""

    how: RequestSettings
    asked: WireRequest
    form: Endpoint
    body: bytes


def prepare_request(name: str, settings: Mapping[str, Json], request: Request, *, official: bool) -> PreparedRequest:
    """Prepare `request` for the model that the provider calls `name`.

    Raises ValueError, OSError or RecursionError, in words, for a request that cannot be sent.
    """
    how = request_settings(settings, request.settings)
    asked = wire_request(name, request, how, official=official)
    form = RESPONSES if how.responses else CHAT
    return PreparedRequest(how, asked, form, _body_bytes({**form.written(asked), **how.extra_body}))


def _body_bytes(body: Mapping[str, Json]) -> bytes:
    if body.get("stream"):
        raise ValueError("`stream` cannot be asked for: answers are read whole")
    try:
        text = _json_text({name: value for name, value in body.items() if name != "tools"})
        if "tools" in body:
            text = f'{text[:-1]}, "tools": {_tools_text(IdentityKey(body["tools"]))}}}'
        return text.encode()
    except TypeError as error:
        raise ValueError(f"the request cannot be sent: {error}") from None


@lru_cache(maxsize=256)
def _tools_text(tools: IdentityKey[Json]) -> str:
    """Requests share their tools, which are most of what is sent."""
    return _json_text(tools.value)


def _json_text(value: Json) -> str:
    return json.dumps(value, allow_nan=False, default=_json_default)


def _json_default(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"it holds a {type(value).__name__}, which JSON has no form for")


class OpenAIBackend:
    """Nothing is sent that was not asked for, and nothing is asked twice."""

    reusable = True
    ahead = True

    def __init__(self, model: Model, entry: ModelEntry, command: Command | None = None) -> None:
        self.settings: Mapping[str, Json] = answer_settings(entry.settings)
        self._model = model
        self._entry = entry
        self._server = server_of(entry.settings)
        self._client: Client | None = None
        self._served: SharedServer | None = None
        if command is not None:
            from pytest_fcall.backends.servers.shared_server import SharedServer

            self._served = SharedServer(command)
        if entry.settings.get("mode") == "prompt" and entry.settings.get("decoder", "json") not in STYLES:
            raise SettingsError(f"{model.id}: with `mode=prompt`, `decoder` must be one of {', '.join(STYLES)}")

    async def complete(self, request: Request) -> Reply:
        """Answer `request`; its time is that of the one exchange with the server."""
        from pytest_fcall.backends.openai.client import read_answer

        sent = self._sending(request)
        about = await self._started()
        client = self._opened()
        started = time.perf_counter()
        came = await client.post(sent.form.path, sent.body, sent.how.headers, sent.how.timeout)
        seconds = time.perf_counter() - started
        out = sent.asked.out
        reply = came if isinstance(came, ProviderFailure) else read_answer(came, sent.form, out)
        if isinstance(reply, ProviderFailure):
            secrets = self._server.secrets(sent.how.headers, [sent.how.sampling, sent.how.extra_body])
            reply = reply_or_raise(reply, Redactor(self._model.id, secrets, self._server.key_variable))
        engine = {**about, **reply.engine, **({"wire": list(out.effects)} if out.effects else {})}
        return replace(reply, decoder=sent.asked.decoder, seconds=seconds, engine=engine)

    def changes(self, request: Request) -> tuple[str, ...]:
        """What is sent otherwise than the case has it, one line each. Raises CaseRefused."""
        return self._sending(request).asked.out.changes

    def prompt(self, request: Request) -> str:
        """The body that is sent. Raises CaseRefused."""
        return pretty_json(json.loads(self._sending(request).body))

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.close()
        if self._served is not None:
            await self._served.close()

    def _sending(self, request: Request) -> PreparedRequest:
        try:
            return prepare_request(self._entry.name, self._entry.settings, request, official=self._server.official)
        except (ValueError, OSError, RecursionError) as error:
            raise CaseRefused(f"{self._model.id}: {error}") from None

    async def _started(self) -> Mapping[str, Json]:
        """Have the server started that is to be, know where it is, and return what it says of itself."""
        if self._served is None:
            return {}
        try:
            address = await self._served.address()
        except ModelUnavailable as error:
            teller = Redactor(self._model.id, self._server.secrets({}, self._entry.settings))
            raise ModelUnavailable(f"{self._model.id}: {teller.cleared(str(error))}") from None
        self._server = replace(self._server, url=address.url)
        return address.about

    def _opened(self) -> Client:
        from pytest_fcall.backends.openai.client import Client

        if self._client is None:
            try:
                self._client = Client(self._server.url, self._server.key())
            except ValueError as error:
                raise ModelUnavailable(f"{self._model.id}: {error}") from None
        self._client.open()
        return self._client

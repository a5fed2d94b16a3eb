"""Asks a model by Chat Completions or Responses, and tells its failures from those of everything else."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_fcall.backends.entries import BadSettings, Entry
from pytest_fcall.backends.errors import Failure, Teller, reply_or_raise
from pytest_fcall.backends.openai.sending import Sending, sending
from pytest_fcall.backends.openai.server import server_of
from pytest_fcall.backends.openai.settings import shaping
from pytest_fcall.backends.prompting import STYLES
from pytest_fcall.backends.showing import json_text
from pytest_fcall.core import CaseRefused, Json, Model, ModelUnavailable, Reply, Request

if TYPE_CHECKING:
    from pytest_fcall.backends.openai.client import Client
    from pytest_fcall.backends.serving.command import Command
    from pytest_fcall.backends.serving.served import Served


class OpenAIBackend:
    """Nothing is sent that was not asked for, and nothing is asked twice."""

    reusable = True
    ahead = True

    def __init__(self, model: Model, entry: Entry, command: Command | None = None) -> None:
        self.settings: Mapping[str, Json] = shaping(entry.settings)
        self._model = model
        self._entry = entry
        self._server = server_of(entry.settings)
        self._client: Client | None = None
        self._served: Served | None = None
        if command is not None:
            from pytest_fcall.backends.serving.served import Served

            self._served = Served(command)
        if entry.settings.get("mode") == "prompt" and entry.settings.get("decoder", "json") not in STYLES:
            raise BadSettings(f"{model.id}: with `mode=prompt`, `decoder` must be one of {', '.join(STYLES)}")

    async def complete(self, request: Request) -> Reply:
        """Answer `request`; its time is that of the one exchange with the server."""
        from pytest_fcall.backends.openai.answer import read_answer

        sent = self._sending(request)
        about = await self._started()
        client = self._opened()
        started = time.perf_counter()
        came = await client.post(sent.form.path, sent.body, sent.how.headers, sent.how.timeout)
        seconds = time.perf_counter() - started
        out = sent.asked.out
        reply = came if isinstance(came, Failure) else read_answer(came, sent.form, out)
        if isinstance(reply, Failure):
            secrets = self._server.secrets(sent.how.headers, [sent.how.sampling, sent.how.extra_body])
            reply = reply_or_raise(reply, Teller(self._model.id, secrets, self._server.key_variable))
        engine = {**about, **reply.engine, **({"wire": list(out.effects)} if out.effects else {})}
        return replace(reply, decoder=sent.asked.decoder, seconds=seconds, engine=engine)

    def changes(self, request: Request) -> tuple[str, ...]:
        """What is sent otherwise than the case has it, one line each. Raises CaseRefused."""
        return self._sending(request).asked.out.changes

    def prompt(self, request: Request) -> str:
        """The body that is sent. Raises CaseRefused."""
        return json_text(json.loads(self._sending(request).body))

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.close()
        if self._served is not None:
            await self._served.close()

    def _sending(self, request: Request) -> Sending:
        try:
            return sending(self._entry.name, self._entry.settings, request, official=self._server.official)
        except (ValueError, OSError, RecursionError) as error:
            raise CaseRefused(f"{self._model.id}: {error}") from None

    async def _started(self) -> Mapping[str, Json]:
        """Have the server started that is to be, know where it is, and return what it says of itself."""
        if self._served is None:
            return {}
        try:
            address = await self._served.address()
        except ModelUnavailable as error:
            teller = Teller(self._model.id, self._server.secrets({}, self._entry.settings))
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

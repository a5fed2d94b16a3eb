"""Asks a model in its provider's own way, and tells its failures from those of everything else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pytest_fcall.backends.any.client import Provider, close, provider_of
from pytest_fcall.backends.any.failures import failure_of
from pytest_fcall.backends.entries import BadSettings, Entry
from pytest_fcall.backends.errors import Failure, Teller, reply_or_raise, worth_hiding
from pytest_fcall.backends.openai.chat import CHAT
from pytest_fcall.backends.openai.question import Question, question
from pytest_fcall.backends.openai.settings import OPTIONS, Asking, asking, shaping
from pytest_fcall.backends.options import Option
from pytest_fcall.backends.secrets import secrets_sent
from pytest_fcall.backends.showing import json_text
from pytest_fcall.core import CaseRefused, Json, Model, ModelUnavailable, Reply, Request

if TYPE_CHECKING:
    from any_llm import AnyLLM

_NOT_HERE = ("api", "serve", "serve_timeout")
KNOWN: Final[Mapping[str, Option]] = MappingProxyType(
    {name: OPTIONS[name] for name in OPTIONS if name not in _NOT_HERE}
)
"""What may be set: the same as for `openai:`, as far as the provider has something of the kind."""

_FLOATS = ("gemini", "vertexai")
"""Their arguments travel as a `Struct` of protobuf, which has no integers."""


class AnyBackend:
    """Nothing is asked twice. Connections belong to the event loop that asks, so each loop has its own client."""

    reusable = True
    ahead = True

    def __init__(self, model: Model, entry: Entry) -> None:
        self.settings: Mapping[str, Json] = shaping(entry.settings)
        self._model = model
        self._entry = entry
        self._provider, _, self._name = entry.name.partition("/")
        if not (self._provider and self._name):
            raise BadSettings(f"{model.id}: write any:provider/model, such as any:anthropic/claude-sonnet-5")
        self._opened: dict[asyncio.AbstractEventLoop, tuple[Provider, AnyLLM]] = {}

    async def complete(self, request: Request) -> Reply:
        """Answer `request`; its time is that of the provider's library."""
        provider, client = self._open()
        how, asked = self._planned(request)
        arguments = self._arguments(asked, how, provider)
        started = time.perf_counter()
        came = await _answer(client, arguments, how.timeout)
        seconds = time.perf_counter() - started
        reply = came if isinstance(came, Failure) else CHAT.read(came, asked.out) or Failure("the answer is empty")
        if isinstance(reply, Failure):
            sent = secrets_sent(provider.url or "", how.headers, [how.sampling, how.extra_body])
            secrets = worth_hiding([provider.key() or "", *sent])
            reply = reply_or_raise(reply, Teller(self._model.id, secrets, provider.key_variable))
        engine: dict[str, Json] = {"provider": self._provider, **reply.engine}
        if wire := [*asked.out.effects, *(["floats"] if self._provider in _FLOATS else [])]:
            engine["wire"] = wire
        return replace(reply, decoder=asked.decoder, seconds=seconds, engine=engine)

    def changes(self, request: Request) -> tuple[str, ...]:
        """What is sent otherwise than the case has it, one line each. Raises CaseRefused."""
        return self._planned(request)[1].out.changes

    def prompt(self, request: Request) -> str:
        """What the library is handed. Raises CaseRefused."""
        how, asked = self._planned(request)
        beside = {"extra_body": how.extra_body} if how.extra_body else {}
        return json_text({**self._body(asked), **beside})

    async def close(self) -> None:
        """Close all connections. Those of an event loop that is closed went with it."""
        while self._opened:
            _, (_, client) = self._opened.popitem()
            with suppress(RuntimeError):
                await close(client)

    def _open(self) -> tuple[Provider, AnyLLM]:
        loop = asyncio.get_running_loop()
        if loop not in self._opened:
            try:
                provider = provider_of(self._provider, self._entry.settings)
                self._opened[loop] = provider, provider.open()
            except ValueError as error:
                raise ModelUnavailable(Teller(self._model.id).say(str(error))) from None
        return self._opened[loop]

    def _planned(self, request: Request) -> tuple[Asking, Question]:
        try:
            how = replace(asking(self._entry.settings, request.settings), responses=False)
            return how, question(self._name, request, how, official=False)
        except (ValueError, RecursionError) as error:
            raise CaseRefused(f"{self._model.id}: {error}") from None

    def _body(self, asked: Question) -> Mapping[str, Json]:
        try:
            return CHAT.written(asked)
        except (ValueError, OSError, RecursionError) as error:
            raise CaseRefused(f"{self._model.id}: {error}") from None

    def _arguments(self, asked: Question, how: Asking, provider: Provider) -> dict[str, Any]:
        """The arguments of the library's function: a body of Chat Completions, and what is said beside it."""
        beside = {"extra_headers": how.headers, "extra_body": how.extra_body}
        timeout = {} if provider.kind.TIMEOUT_SUPPORT == "unsupported" else {"timeout": how.timeout}
        return {**self._body(asked), **timeout, **{name: dict(value) for name, value in beside.items() if value}}


async def _answer(client: AnyLLM, arguments: Mapping[str, Any], timeout: float) -> Mapping[str, Json] | Failure:
    """What the provider answered, in the form of Chat Completions, or why there is nothing."""
    try:
        async with asyncio.timeout(timeout):
            answer: Any = await client.acompletion(**arguments)
    except TimeoutError:
        return Failure(f"no answer came within {timeout:g} s", words=frozenset({"timeout"}))
    except Exception as error:  # whichever library is under it, what it raises is a failure on the way
        return failure_of(error)
    told: Mapping[str, Json] = answer.model_dump(mode="json", warnings="none")
    return told

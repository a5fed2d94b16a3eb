"""The backend of `any:provider/model`: any-llm's client, and the failures that its libraries raise."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from inspect import isawaitable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pytest_fcall.backends.any.provider import GOOGLE, Provider, provider_of
from pytest_fcall.backends.http_answers import RedirectError, TooLong, UnreadableBody
from pytest_fcall.backends.openai import settings as openai_settings
from pytest_fcall.backends.openai.chat import CHAT
from pytest_fcall.backends.openai.endpoint import WireRequest, wire_request
from pytest_fcall.backends.openai.settings import RequestSettings, request_settings
from pytest_fcall.backends.provider_failures import (
    LOST_BY_REDIRECT,
    NOT_SENT,
    TOO_LONG,
    ProviderFailure,
    Redactor,
    long_secrets,
    read_failure,
    reply_or_raise,
)
from pytest_fcall.backends.redaction import secrets_of_request
from pytest_fcall.backends.request_json import pretty_json
from pytest_fcall.backends.settings import ModelEntry, Option, SettingsError
from pytest_fcall.core.backend import CaseRefused, Model, ModelUnavailable, OfflineBody, Unanswered
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Interface, Request
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from any_llm import AnyLLM
    from any_llm.exceptions import AnyLLMError
    from httpx import AsyncClient
    from pydantic import ValidationError

    from pytest_fcall.backends.any.http_client import OfflineClient, UnsentExchange
    from pytest_fcall.backends.batch_server import BatchInterface, BatchServer

_OPENAI_ONLY = ("api", "serve", "serve_timeout")
OPTIONS: Final[Mapping[str, Option]] = MappingProxyType(
    {name: option for name, option in openai_settings.OPTIONS.items() if name not in _OPENAI_ONLY}
)
"""The settings of `openai:`, as far as other providers have an equivalent."""

_ANTHROPIC = ("anthropic", "azureanthropic", "vertexaianthropic")
_INTERFACES: Final[Mapping[str, Interface]] = MappingProxyType(
    {
        **dict.fromkeys(_ANTHROPIC, "anthropic"),
        **dict.fromkeys(GOOGLE, "google"),
        "mistral": "mistral",
        "cohere": "cohere",
        "bedrock": "amazon",
        "fireworks": "fireworks",
    }
)
"""By provider, the interface for which a benchmark's wording writes; all others are asked as OpenAI is."""
_BATCHES: Final[Mapping[str, BatchInterface]] = MappingProxyType({"anthropic": "anthropic", "gemini": "gemini"})
"""By provider, the interface for batches; requests of these are known without sending them."""


class AnyBackend:
    """Sends each request once, with a client of its own for each event loop."""

    reusable = True
    ahead = True

    def __init__(self, model: Model, entry: ModelEntry) -> None:
        self.settings: Mapping[str, Json] = entry.reply_settings
        self._model = model
        self._entry = entry
        self._provider, _, self._name = entry.name.partition("/")
        if not (self._provider and self._name):
            raise SettingsError(f"{model.id}: write any:provider/model, such as any:anthropic/claude-sonnet-5")
        self._clients: dict[asyncio.AbstractEventLoop, tuple[Provider, AnyLLM, AsyncClient | None]] = {}
        self._offline: tuple[Provider, OfflineClient] | None = None

    async def complete(self, request: Request) -> Reply:
        """Answer `request`; the reply's time is that of the provider's library."""
        provider, client, _ = self._client_of_loop()
        settings, wire = self._prepare(request)
        arguments = self._arguments(wire, settings, provider)
        started = time.perf_counter()
        answer = await _complete(client, arguments, settings.timeout)
        seconds = time.perf_counter() - started
        return replace(self._reply(answer, settings, wire, provider), seconds=seconds)

    async def offline_body(self, request: Request) -> OfflineBody:
        """The request as the provider would get it. Raises CaseRefused and ModelUnavailable."""
        exchange = await self._exchange(request)
        body = json.loads(exchange.body)
        return OfflineBody(urlsplit(exchange.url).path, body)

    async def offline_reply(self, request: Request, status: int, body: bytes) -> Reply:
        """The reply in the provider's answer to `offline_body`. Raises as `complete` does."""
        from pytest_fcall.backends.any.http_client import UnsentExchange

        settings, wire = self._prepare(request)
        provider, client = self._offline_client()
        client.expect(UnsentExchange(answer=(status, body)))
        answer = await _complete(client.client, self._arguments(wire, settings, provider), settings.timeout)
        return self._reply(answer, settings, wire, provider)

    async def batch_server(self, request: Request) -> BatchServer:
        """The server that would get the request. Raises as `offline_body` does."""
        from pytest_fcall.backends.batch_server import BatchServer

        exchange = await self._exchange(request)
        provider, _ = self._offline_client()
        interface = _BATCHES[self._provider]
        url = exchange.url.partition("/v1/messages" if interface == "anthropic" else "/models/")[0]
        settings, _ = self._prepare(request)
        secrets = long_secrets([provider.key() or "", *secrets_of_request(url, exchange.headers, settings.extra_body)])
        return BatchServer(interface, url, exchange.headers, {}, secrets, provider.key_variable)

    def _reply(
        self,
        answer: Mapping[str, Json] | ProviderFailure,
        settings: RequestSettings,
        wire: WireRequest,
        provider: Provider,
    ) -> Reply:
        """The reply in an answer. Raises as `complete` does."""
        reply = (
            answer
            if isinstance(answer, ProviderFailure)
            else CHAT.read_reply(answer, wire.wire_tools) or ProviderFailure("the answer is empty")
        )
        if isinstance(reply, ProviderFailure):
            reply = reply_or_raise(reply, self._redactor(settings, provider))
        engine: dict[str, Json] = {"provider": self._provider, **reply.engine}
        if effects := [*wire.wire_tools.effects, *(["floats"] if self._provider in GOOGLE else [])]:
            engine["wire"] = effects
        return replace(reply, decoder=wire.decoder, engine=engine)

    def _redactor(self, settings: RequestSettings, provider: Provider) -> Redactor:
        sent = secrets_of_request(provider.url or "", settings.headers, [settings.sampling, settings.extra_body])
        return Redactor(self._model.id, long_secrets([provider.key() or "", *sent]), provider.key_variable)

    async def _exchange(self, request: Request) -> UnsentExchange:
        """The request that the library would send. Raises CaseRefused where it sends none, and ModelUnavailable."""
        from pytest_fcall.backends.any.http_client import UnsentExchange

        settings, wire = self._prepare(request)
        provider, client = self._offline_client()
        exchange = UnsentExchange()
        client.expect(exchange)
        answer = await _complete(client.client, self._arguments(wire, settings, provider), settings.timeout)
        if exchange.body:
            return exchange
        refusal = answer if isinstance(answer, ProviderFailure) else ProviderFailure("the library sends nothing")
        try:
            reply_or_raise(refusal, self._redactor(settings, provider))
        except Unanswered as error:  # nothing was sent, and nothing ever will be
            raise CaseRefused(str(error)) from None
        raise CaseRefused(f"{self._model.id}: the provider's library sends nothing for this request")

    def _offline_client(self) -> tuple[Provider, OfflineClient]:
        """The client that sends nothing. Raises ModelUnavailable for a provider whose batches are not known."""
        if self._offline is None:
            from pytest_fcall.backends.any.http_client import OfflineClient

            if self._provider not in _BATCHES:
                raise ModelUnavailable(
                    f"{self._model.id}: batches are known for any:anthropic/… and any:gemini/…; for a server that "
                    "speaks /v1/files and /v1/batches, as OpenAI does, write openai:NAME, and its address as `base_url`"
                )
            try:
                provider = provider_of(self._provider, self._entry.settings)
                self._offline = provider, OfflineClient(provider)
            except ValueError as error:
                raise ModelUnavailable(Redactor(self._model.id).message(str(error))) from None
        return self._offline

    def check(self) -> None:
        """Raise ModelUnavailable where a library or the key is missing.

        The libraries take seconds to import, so that where a key is set they are only looked for.
        """
        variable = self._entry.settings.get("api_key_env") or f"{self._provider.upper()}_API_KEY"
        if find_spec("any_llm") is None or not os.environ.get(str(variable), "").strip():
            self._provider_and_client()

    def changes(self, request: Request) -> tuple[str, ...]:
        """The differences between the request and what is sent, one line each. Raises CaseRefused."""
        return self._prepare(request)[1].wire_tools.changes

    def prompt(self, request: Request) -> str:
        """The arguments of the provider's library. Raises CaseRefused."""
        settings, wire = self._prepare(request)
        return pretty_json(self._body(wire, settings))

    async def close(self) -> None:
        """Close all connections. Those of a closed event loop are gone already."""
        while self._clients:
            _, (_, client, inner) = self._clients.popitem()
            with suppress(RuntimeError):
                await _close_client(client)
                if inner is not None:
                    await inner.aclose()

    def _client_of_loop(self) -> tuple[Provider, AnyLLM, AsyncClient | None]:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = self._provider_and_client()
        return self._clients[loop]

    def _provider_and_client(self) -> tuple[Provider, AnyLLM, AsyncClient | None]:
        try:
            provider = provider_of(self._provider, self._entry.settings)
            return (provider, *provider.open_client())
        except ValueError as error:
            raise ModelUnavailable(Redactor(self._model.id).message(str(error))) from None

    def _prepare(self, request: Request) -> tuple[RequestSettings, WireRequest]:
        try:
            joined = request_settings(self._entry.settings, request.settings)
            handler = joined.handler or _INTERFACES.get(self._provider, "openai")
            settings = replace(joined, uses_responses=False, handler=handler)
            return settings, wire_request(self._name, request, settings, official=False)
        except (ValueError, RecursionError) as error:
            raise CaseRefused(f"{self._model.id}: {error}") from None

    def _body(self, wire: WireRequest, settings: RequestSettings) -> dict[str, Json]:
        """The body of Chat Completions, with what is sent beside it under `extra_body`."""
        try:
            body = {**CHAT.request_body(wire)}
        except (ValueError, OSError, RecursionError) as error:
            raise CaseRefused(f"{self._model.id}: {error}") from None
        extra = {**settings.extra_body}
        if wire.wire_tools.worded_names and self._provider in GOOGLE:
            body["tools"] = _google_tools(wire.wire_tools.tools)
        elif wire.wire_tools.worded_names and self._provider in _ANTHROPIC:
            del body["tools"]
            extra = {"tools": _anthropic_tools(wire.wire_tools.tools), **extra}
        return body | ({"extra_body": extra} if extra else {})

    def _arguments(self, wire: WireRequest, settings: RequestSettings, provider: Provider) -> dict[str, Any]:
        """The arguments of the library's function: a body of Chat Completions, and headers and time limit."""
        timeout = {} if provider.llm_class.TIMEOUT_SUPPORT == "unsupported" else {"timeout": settings.timeout}
        headers = {"extra_headers": dict(settings.headers)} if settings.headers else {}
        return {**self._body(wire, settings), **timeout, **headers}


def _google_tools(tools: Sequence[Mapping[str, Json]]) -> Json:
    """Tools in Google's own form, which any-llm passes on: of OpenAI's it drops the properties of objects."""
    return [{"function_declarations": [tool["function"] for tool in tools]}]


def _anthropic_tools(tools: Sequence[Mapping[str, Json]]) -> Json:
    """Tools in Anthropic's own form, for the body itself: of OpenAI's any-llm changes the order of keys."""
    functions = [tool["function"] for tool in tools]
    return [
        {"input_schema" if key == "parameters" else key: value for key, value in function.items()}
        for function in functions
        if isinstance(function, Mapping)
    ]


async def _complete(
    client: AnyLLM, arguments: Mapping[str, Any], timeout: float
) -> Mapping[str, Json] | ProviderFailure:
    """The provider's answer in the form of Chat Completions, or its failure."""
    try:
        async with asyncio.timeout(timeout):
            answer: Any = await client.acompletion(**arguments)
    except TimeoutError:
        return ProviderFailure(f"no answer came within {timeout:g} s", codes=frozenset({"timeout"}), billable=True)
    except Exception as error:  # each provider's library raises errors of its own
        return failure_of(error)
    data: Mapping[str, Json] = answer.model_dump(mode="json", warnings="none")
    return data


async def _close_client(client: AnyLLM) -> None:
    """Close a client's connections, if its library can."""
    inner = getattr(client, "client", None)
    close = getattr(inner, "aclose", None) or getattr(inner, "close", None)
    closed = close() if callable(close) else None
    if isawaitable(closed):
        await closed


_NOT_SENT_CODES = frozenset({NOT_SENT})
_WITHOUT_STATUS: Mapping[str, ProviderFailure] = MappingProxyType(
    {
        "AuthenticationError": ProviderFailure("", 401),
        "InsufficientFundsError": ProviderFailure("", 402),
        "ModelNotFoundError": ProviderFailure("", codes=frozenset({"model_not_found"})),
        "RateLimitError": ProviderFailure("", 429),
        "ContextLengthExceededError": ProviderFailure("", codes=frozenset({"context_length_exceeded"})),
        "ContentFilterError": ProviderFailure("", codes=frozenset({"content_filter"})),
        "InvalidRequestError": ProviderFailure("", codes=_NOT_SENT_CODES),
        "UnsupportedParameterError": ProviderFailure("", codes=_NOT_SENT_CODES),
    }
)
"""any-llm's errors, for providers whose library reports no status."""

_UNREADABLE_ANSWER = (UnicodeDecodeError, json.JSONDecodeError, TypeError, AttributeError, LookupError)
"""Raised where a library reads an answer that has not the expected form."""


def failure_of(error: Exception) -> ProviderFailure:
    """The failure that `error` reports. An unknown error may be different the next time."""
    from any_llm.exceptions import AnyLLMError
    from pydantic import ValidationError

    from pytest_fcall.backends.any.http_client import NoAnswer

    for cause in _causes(error):
        if isinstance(cause, RedirectError):
            return ProviderFailure(str(cause), codes=frozenset({LOST_BY_REDIRECT}))
        if isinstance(cause, TooLong):
            return ProviderFailure(f"it {cause}", codes=frozenset({TOO_LONG}))
        if isinstance(cause, UnreadableBody):
            return ProviderFailure(f"the answer {cause}")
        if isinstance(cause, NoAnswer):
            return ProviderFailure(str(cause))
    if isinstance(error, AnyLLMError):
        status = error.status_code
        return _failure_without_status(error) if status is None else _failure_with_status(error, status)
    if isinstance(error, NotImplementedError):
        return ProviderFailure(
            f"any-llm does not support this provider here: {error}", codes=frozenset({"model_not_supported"})
        )
    if isinstance(error, ValidationError) and error.title == "CompletionParams":
        return ProviderFailure(_invalid_argument(error), codes=_NOT_SENT_CODES)
    return ProviderFailure(f"the provider's library failed ({type(error).__name__})")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, and those behind it, which libraries wrap into their own."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        yield error
        error = getattr(error, "original_exception", None) or error.__cause__ or error.__context__ or error


def _failure_without_status(error: AnyLLMError) -> ProviderFailure:
    """The failure of a request without an answer, or with one that could not be read."""
    cause, kind = error.original_exception, type(error).__name__
    if isinstance(cause, TypeError) and (unknown := re.search(r"unexpected keyword argument '(\w+)'", str(cause))):
        return ProviderFailure(f"`{unknown[1]}` cannot be set for this provider", codes=_NOT_SENT_CODES)
    if isinstance(cause, _UNREADABLE_ANSWER):
        return ProviderFailure(f"the provider's library cannot read the answer ({type(cause).__name__})")
    if type(cause) is ValueError:
        return ProviderFailure(error.message, codes=_NOT_SENT_CODES)
    if cause is not None and not str(cause):  # any-llm has no words for it, either
        return ProviderFailure(f"the provider's library failed ({type(cause).__name__})")
    return replace(_WITHOUT_STATUS.get(kind, ProviderFailure("")), text=error.message)


def _failure_with_status(error: AnyLLMError, status: int) -> ProviderFailure:
    cause = error.original_exception
    headers = dict(_headers(cause))
    if isinstance(after := getattr(error, "retry_after", None), str):
        headers.setdefault("retry-after", after)
    body: Json = getattr(cause, "body", None)
    failure = read_failure(status, body or error.message, headers)
    codes = (code.lower() for code in (error.code, error.error_type) if code)
    return replace(failure, codes=failure.codes | frozenset(codes))


def _headers(cause: Exception | None) -> Iterator[tuple[str, str]]:
    headers = getattr(getattr(cause, "response", None), "headers", None)
    items = getattr(headers, "items", None)
    for name, value in items() if callable(items) else ():
        if isinstance(name, str) and isinstance(value, str):
            yield name.lower(), value


def _invalid_argument(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"`{'.'.join(map(str, first['loc']))}`: {first['msg']}"

"""The backend of `any:provider/model`: any-llm's client, and what its libraries raise."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from inspect import isawaitable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import ValidationError

from pytest_fcall.backends.openai.chat import CHAT
from pytest_fcall.backends.openai.settings import OPTIONS, RequestSettings, answer_settings, request_settings
from pytest_fcall.backends.openai.wire_request import WireRequest, wire_request
from pytest_fcall.backends.pretty_json import pretty_json
from pytest_fcall.backends.provider_failures import (
    ProviderFailure,
    Redactor,
    long_secrets,
    read_failure,
    reply_or_raise,
)
from pytest_fcall.backends.redaction import secrets_of_request
from pytest_fcall.backends.settings import ModelEntry, Option, SettingsError
from pytest_fcall.core import CaseRefused, Json, Model, ModelUnavailable, Reply, Request
from pytest_fcall.schema.value_text import nearest

if TYPE_CHECKING:
    from any_llm import AnyLLM
    from any_llm.exceptions import AnyLLMError


_UNSENT_WORDS = frozenset({"refused_before_it_was_sent"})
_WITHOUT_STATUS: Mapping[str, ProviderFailure] = MappingProxyType(
    {
        "AuthenticationError": ProviderFailure("", 401),
        "InsufficientFundsError": ProviderFailure("", 402),
        "ModelNotFoundError": ProviderFailure("", words=frozenset({"model_not_found"})),
        "RateLimitError": ProviderFailure("", 429),
        "ContextLengthExceededError": ProviderFailure("", words=frozenset({"context_length_exceeded"})),
        "ContentFilterError": ProviderFailure("", words=frozenset({"content_filter"})),
        "InvalidRequestError": ProviderFailure("", words=_UNSENT_WORDS),
        "UnsupportedParameterError": ProviderFailure("", words=_UNSENT_WORDS),
    }
)
"""What any-llm makes of an error, where the provider's library tells no status."""

_GARBLED = (UnicodeDecodeError, json.JSONDecodeError, TypeError, AttributeError, LookupError)
"""Raised where a library trips over an answer that is none."""


def failure_of(error: Exception) -> ProviderFailure:
    """Say what `error` is in terms of the table. What nobody knows may be better the next time."""
    from any_llm.exceptions import AnyLLMError

    if isinstance(error, AnyLLMError):
        return (
            _failure_without_status(error)
            if error.status_code is None
            else _failure_with_status(error, error.status_code)
        )
    if isinstance(error, NotImplementedError):
        return ProviderFailure(f"any-llm cannot ask this provider: {error}", words=frozenset({"model_not_supported"}))
    if isinstance(error, ValidationError) and error.title == "CompletionParams":
        return ProviderFailure(_invalid_argument(error), words=_UNSENT_WORDS)
    return ProviderFailure(f"the provider's library failed ({type(error).__name__})")


def _failure_without_status(error: AnyLLMError) -> ProviderFailure:
    """What came without an answer, or with one that could not be read."""
    cause, kind = error.original_exception, type(error).__name__
    if isinstance(cause, TypeError) and (unknown := re.search(r"unexpected keyword argument '(\w+)'", str(cause))):
        return ProviderFailure(f"`{unknown[1]}` cannot be set for this provider", words=_UNSENT_WORDS)
    if isinstance(cause, _GARBLED):
        return ProviderFailure(
            f"what came back is no answer that the provider's library can read ({type(cause).__name__})"
        )
    if type(cause) is ValueError:
        return ProviderFailure(error.message, words=_UNSENT_WORDS)
    return replace(_WITHOUT_STATUS.get(kind, ProviderFailure("")), text=error.message)


def _failure_with_status(error: AnyLLMError, status: int) -> ProviderFailure:
    cause = error.original_exception
    headers = dict(_headers(cause))
    if isinstance(after := getattr(error, "retry_after", None), str):
        headers.setdefault("retry-after", after)
    body = cast("Json", getattr(cause, "body", None))
    failure = read_failure(status, body or error.message, headers)
    said = (word.lower() for word in (error.code, error.error_type) if word)
    return replace(failure, words=failure.words | frozenset(said))


def _headers(cause: Exception | None) -> Iterator[tuple[str, str]]:
    headers = getattr(getattr(cause, "response", None), "headers", None)
    items = getattr(headers, "items", None)
    for name, value in items() if callable(items) else ():
        if isinstance(name, str) and isinstance(value, str):
            yield name.lower(), value


def _invalid_argument(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"`{'.'.join(map(str, first['loc']))}`: {first['msg']}"


_NO_KEY = "none"
"""Sent to a server of one's own that asks for no key: most libraries send one in any case."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where and as whom a provider is asked; `kind` is any-llm's class for it."""

    name: str
    kind: type[AnyLLM]
    url: str | None
    key_variable: str

    def key(self) -> str | None:
        """The key, read when it is needed; None leaves it to the library. Raises ValueError, in words, for none."""
        key = os.environ.get(self.key_variable, "").strip()
        if key or self.key_variable == self.kind.ENV_API_KEY_NAME:
            return key or (_NO_KEY if self.url else None)
        raise ValueError(f"the variable {self.key_variable} is not set, which `api_key_env` names")

    def open(self) -> AnyLLM:
        """A client that asks nothing twice. Raises ValueError, in words, where there can be none."""
        from any_llm import AnyLLM
        from any_llm.exceptions import AnyLLMError, MissingApiKeyError

        retries: dict[str, Any] = {} if self.kind.MAX_RETRIES_SUPPORT == "unsupported" else {"max_retries": 0}
        try:
            return AnyLLM.create(self.name, self.key(), self.url, unified_exceptions=True, **retries)
        except MissingApiKeyError as error:
            told = f"the variable {error.env_var_name} is not set; export {error.env_var_name}=…, or name another \
variable by `api_key_env`"
        except ImportError:
            told = _not_installed(self.name)
        except (AnyLLMError, TypeError, OSError) as error:
            told = f"{self.name} cannot be asked: {error}"
        raise ValueError(told)


def provider_of(name: str, settings: Mapping[str, Json]) -> Provider:
    """Find the provider of this name. Raises ValueError, in words, where it or the library for it is not there."""
    try:
        from any_llm import AnyLLM
    except ImportError:
        raise ValueError('any-llm is not installed; pip install "pytest-fcall[any]"') from None
    from any_llm.exceptions import UnsupportedProviderError

    try:
        kind = AnyLLM.get_provider_class(name)
    except UnsupportedProviderError as error:
        near = nearest(name, error.supported_providers)
        hint = f"did you mean `{near}`?" if near else f"known are {', '.join(sorted(error.supported_providers))}"
        raise ValueError(f"any-llm knows no provider {name!r:.60}; {hint}") from None
    except ImportError:
        raise ValueError(_not_installed(name)) from None
    url, variable = settings.get("base_url"), settings.get("api_key_env")
    return Provider(
        name,
        kind,
        url if isinstance(url, str) else None,
        variable if isinstance(variable, str) else kind.ENV_API_KEY_NAME,
    )


async def close_client(client: AnyLLM) -> None:
    """Close a client's connections, if its library has a way to."""
    inner = getattr(client, "client", None)
    closing = getattr(inner, "aclose", None) or getattr(inner, "close", None)
    closed = closing() if callable(closing) else None
    if isawaitable(closed):
        await closed


def _not_installed(name: str) -> str:
    return f'the library for {name} is not installed; pip install "any-llm-sdk[{name}]"'


_OPENAI_ONLY = ("api", "serve", "serve_timeout")
OPTIONS_OF_ANY: Final[Mapping[str, Option]] = MappingProxyType(
    {name: OPTIONS[name] for name in OPTIONS if name not in _OPENAI_ONLY}
)
"""What may be set: the same as for `openai:`, as far as the provider has something of the kind."""

_FLOAT_PROVIDERS = ("gemini", "vertexai")
"""Their arguments travel as a `Struct` of protobuf, which has no integers."""


class AnyBackend:
    """Nothing is asked twice. Connections belong to the event loop that asks, so each loop has its own client."""

    reusable = True
    ahead = True

    def __init__(self, model: Model, entry: ModelEntry) -> None:
        self.settings: Mapping[str, Json] = answer_settings(entry.settings)
        self._model = model
        self._entry = entry
        self._provider, _, self._name = entry.name.partition("/")
        if not (self._provider and self._name):
            raise SettingsError(f"{model.id}: write any:provider/model, such as any:anthropic/claude-sonnet-5")
        self._opened: dict[asyncio.AbstractEventLoop, tuple[Provider, AnyLLM]] = {}

    async def complete(self, request: Request) -> Reply:
        """Answer `request`; its time is that of the provider's library."""
        provider, client = self._open()
        how, asked = self._planned(request)
        arguments = self._arguments(asked, how, provider)
        started = time.perf_counter()
        came = await _answer(client, arguments, how.timeout)
        seconds = time.perf_counter() - started
        reply = (
            came
            if isinstance(came, ProviderFailure)
            else CHAT.read(came, asked.out) or ProviderFailure("the answer is empty")
        )
        if isinstance(reply, ProviderFailure):
            sent = secrets_of_request(provider.url or "", how.headers, [how.sampling, how.extra_body])
            secrets = long_secrets([provider.key() or "", *sent])
            reply = reply_or_raise(reply, Redactor(self._model.id, secrets, provider.key_variable))
        engine: dict[str, Json] = {"provider": self._provider, **reply.engine}
        if wire := [*asked.out.effects, *(["floats"] if self._provider in _FLOAT_PROVIDERS else [])]:
            engine["wire"] = wire
        return replace(reply, decoder=asked.decoder, seconds=seconds, engine=engine)

    def changes(self, request: Request) -> tuple[str, ...]:
        """What is sent otherwise than the case has it, one line each. Raises CaseRefused."""
        return self._planned(request)[1].out.changes

    def prompt(self, request: Request) -> str:
        """What the library is handed. Raises CaseRefused."""
        how, asked = self._planned(request)
        beside = {"extra_body": how.extra_body} if how.extra_body else {}
        return pretty_json({**self._body(asked), **beside})

    async def close(self) -> None:
        """Close all connections. Those of an event loop that is closed went with it."""
        while self._opened:
            _, (_, client) = self._opened.popitem()
            with suppress(RuntimeError):
                await close_client(client)

    def _open(self) -> tuple[Provider, AnyLLM]:
        loop = asyncio.get_running_loop()
        if loop not in self._opened:
            try:
                provider = provider_of(self._provider, self._entry.settings)
                self._opened[loop] = provider, provider.open()
            except ValueError as error:
                raise ModelUnavailable(Redactor(self._model.id).say(str(error))) from None
        return self._opened[loop]

    def _planned(self, request: Request) -> tuple[RequestSettings, WireRequest]:
        try:
            how = replace(request_settings(self._entry.settings, request.settings), responses=False)
            return how, wire_request(self._name, request, how, official=False)
        except (ValueError, RecursionError) as error:
            raise CaseRefused(f"{self._model.id}: {error}") from None

    def _body(self, asked: WireRequest) -> Mapping[str, Json]:
        try:
            return CHAT.written(asked)
        except (ValueError, OSError, RecursionError) as error:
            raise CaseRefused(f"{self._model.id}: {error}") from None

    def _arguments(self, asked: WireRequest, how: RequestSettings, provider: Provider) -> dict[str, Any]:
        """The arguments of the library's function: a body of Chat Completions, and what is said beside it."""
        beside = {"extra_headers": how.headers, "extra_body": how.extra_body}
        timeout = {} if provider.kind.TIMEOUT_SUPPORT == "unsupported" else {"timeout": how.timeout}
        return {**self._body(asked), **timeout, **{name: dict(value) for name, value in beside.items() if value}}


async def _answer(client: AnyLLM, arguments: Mapping[str, Any], timeout: float) -> Mapping[str, Json] | ProviderFailure:
    """What the provider answered, in the form of Chat Completions, or why there is nothing."""
    try:
        async with asyncio.timeout(timeout):
            answer: Any = await client.acompletion(**arguments)
    except TimeoutError:
        return ProviderFailure(f"no answer came within {timeout:g} s", words=frozenset({"timeout"}))
    except Exception as error:  # whichever library is under it, what it raises is a failure on the way
        return failure_of(error)
    told: Mapping[str, Json] = answer.model_dump(mode="json", warnings="none")
    return told

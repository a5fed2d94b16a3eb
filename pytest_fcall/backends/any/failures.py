"""What any-llm and the libraries under it raise, as failures that the table of errors knows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from pytest_fcall.backends.error_bodies import read_failure
from pytest_fcall.backends.errors import Failure
from pytest_fcall.core import Json

if TYPE_CHECKING:
    from any_llm.exceptions import AnyLLMError

_STATUSES: Mapping[str, int] = MappingProxyType(
    {
        "AuthenticationError": 401,
        "InsufficientFundsError": 402,
        "ModelNotFoundError": 404,
        "RateLimitError": 429,
        "UpstreamProviderError": 502,
        "GatewayTimeoutError": 504,
        "InvalidRequestError": 400,
        "UnsupportedParameterError": 400,
    }
)
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "ContextLengthExceededError": "context_length_exceeded",
        "ContentFilterError": "content_filter",
        "ModelNotFoundError": "model_not_found",
    }
)
"""What any-llm makes of an error, where the provider's library tells no status."""

_OF_PYTHON = (TypeError, AttributeError, LookupError)


def failure_of(error: Exception) -> Failure:
    """Say what `error` is in terms of the table. What nobody knows may be better the next time."""
    from any_llm.exceptions import AnyLLMError

    kind = type(error).__name__
    if isinstance(error, AnyLLMError):
        return _told(error)
    if isinstance(error, NotImplementedError):
        return Failure(f"any-llm cannot ask this provider: {error}", 404, frozenset({"model_not_supported"}))
    if getattr(error, "title", None) == "CompletionParams":  # pydantic's word for what could not be checked
        return Failure(f"any-llm does not take such a request: {error}", 400)
    return Failure(f"the provider's library failed ({kind})")


def _told(error: AnyLLMError) -> Failure:
    cause, kind = error.original_exception, type(error).__name__
    if error.status_code is not None:
        return _answered(error, error.status_code)
    if isinstance(cause, UnicodeDecodeError | json.JSONDecodeError) or (
        isinstance(cause, _OF_PYTHON) and kind != "InvalidRequestError"
    ):
        return Failure(f"what came back is no answer that the provider's library can read ({type(cause).__name__})")
    if type(cause) is ValueError:  # raised before anything was sent
        return Failure(error.message, 400)
    return Failure(error.message, _STATUSES.get(kind), frozenset({_WORDS[kind]} if kind in _WORDS else ()))


def _answered(error: AnyLLMError, status: int) -> Failure:
    cause = error.original_exception
    headers = dict(_headers(cause))
    if isinstance(after := getattr(error, "retry_after", None), str):
        headers.setdefault("retry-after", after)
    body = getattr(cause, "body", None)
    failure = read_failure(status, cast("Json", body) or error.message, headers)
    said = (word.lower() for word in (error.code, error.error_type) if word)
    return replace(failure, words=failure.words | frozenset(said))


def _headers(cause: Exception | None) -> Iterator[tuple[str, str]]:
    headers = getattr(getattr(cause, "response", None), "headers", None)
    items = getattr(headers, "items", None)
    for name, value in items() if callable(items) else ():
        if isinstance(name, str) and isinstance(value, str):
            yield name.lower(), value

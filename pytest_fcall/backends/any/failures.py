"""What any-llm and the libraries under it raise, as failures that the table of errors knows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from pydantic import ValidationError

from pytest_fcall.backends.error_bodies import read_failure
from pytest_fcall.backends.errors import Failure
from pytest_fcall.core import Json

if TYPE_CHECKING:
    from any_llm.exceptions import AnyLLMError

_UNSENT = frozenset({"refused_before_it_was_sent"})
_WITHOUT_STATUS: Mapping[str, Failure] = MappingProxyType(
    {
        "AuthenticationError": Failure("", 401),
        "InsufficientFundsError": Failure("", 402),
        "ModelNotFoundError": Failure("", words=frozenset({"model_not_found"})),
        "RateLimitError": Failure("", 429),
        "ContextLengthExceededError": Failure("", words=frozenset({"context_length_exceeded"})),
        "ContentFilterError": Failure("", words=frozenset({"content_filter"})),
        "InvalidRequestError": Failure("", words=_UNSENT),
        "UnsupportedParameterError": Failure("", words=_UNSENT),
    }
)
"""What any-llm makes of an error, where the provider's library tells no status."""

_GARBLED = (UnicodeDecodeError, json.JSONDecodeError, TypeError, AttributeError, LookupError)
"""Raised where a library trips over an answer that is none."""


def failure_of(error: Exception) -> Failure:
    """Say what `error` is in terms of the table. What nobody knows may be better the next time."""
    from any_llm.exceptions import AnyLLMError

    if isinstance(error, AnyLLMError):
        return _told(error) if error.status_code is None else _answered(error, error.status_code)
    if isinstance(error, NotImplementedError):
        return Failure(f"any-llm cannot ask this provider: {error}", words=frozenset({"model_not_supported"}))
    if isinstance(error, ValidationError) and error.title == "CompletionParams":
        return Failure(_unfit(error), words=_UNSENT)
    return Failure(f"the provider's library failed ({type(error).__name__})")


def _told(error: AnyLLMError) -> Failure:
    """What came without an answer, or with one that could not be read."""
    cause, kind = error.original_exception, type(error).__name__
    if isinstance(cause, TypeError) and (unknown := re.search(r"unexpected keyword argument '(\w+)'", str(cause))):
        return Failure(f"`{unknown[1]}` cannot be set for this provider", words=_UNSENT)
    if isinstance(cause, _GARBLED):
        return Failure(f"what came back is no answer that the provider's library can read ({type(cause).__name__})")
    if type(cause) is ValueError:
        return Failure(error.message, words=_UNSENT)
    return replace(_WITHOUT_STATUS.get(kind, Failure("")), text=error.message)


def _answered(error: AnyLLMError, status: int) -> Failure:
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


def _unfit(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"`{'.'.join(map(str, first['loc']))}`: {first['msg']}"

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import pytest

from pytest_fcall.backends.any.backend import failure_of
from pytest_fcall.backends.provider_failures import Blame


@pytest.fixture(scope="module")
def exceptions() -> ModuleType:
    """Those of the library, which takes a second to import."""
    return import_module("any_llm.exceptions")


@pytest.mark.parametrize(
    ("make", "blame"),
    [
        (lambda exceptions: exceptions.AuthenticationError("No."), "model"),
        (lambda exceptions: exceptions.InsufficientFundsError("No."), "model"),
        (lambda exceptions: exceptions.ModelNotFoundError("No."), "model"),
        (lambda exceptions: exceptions.RateLimitError("Later."), "throttled"),
        (lambda exceptions: exceptions.ContextLengthExceededError("Too much."), "case"),
        (lambda exceptions: exceptions.ContentFilterError("No."), "case"),
        (lambda exceptions: exceptions.InvalidRequestError("No."), "case"),
        (lambda exceptions: exceptions.UnsupportedParameterError("top_p", "exam"), "case"),
        (lambda exceptions: exceptions.ProviderError("Broken."), "again"),
        (lambda exceptions: exceptions.UpstreamProviderError("Broken."), "again"),
        (lambda exceptions: exceptions.GatewayTimeoutError("Late."), "again"),
        (lambda exceptions: exceptions.ProviderError("Broken.", KeyError("choices")), "again"),
        (lambda exceptions: exceptions.ProviderError("Broken.", status_code=500), "again"),
        (lambda exceptions: exceptions.ProviderError("Overloaded.", status_code=529), "throttled"),
        (lambda exceptions: exceptions.InvalidRequestError("No.", status_code=422), "case"),
        (lambda _: NotImplementedError("no completions here"), "model"),
        (lambda _: ZeroDivisionError(), "again"),
    ],
)
def test_whatever_is_raised_is_somebody_s_fault(
    exceptions: ModuleType, make: Callable[[ModuleType], Exception], blame: Blame
) -> None:
    assert failure_of(make(exceptions)).kind.blame == blame


def test_codes_count_wherever_they_are_told(exceptions: ModuleType) -> None:
    error = exceptions.InvalidRequestError("No.", status_code=400, code="Context_Length_Exceeded", error_type="bad")
    assert {"context_length_exceeded", "bad"} <= failure_of(error).codes


def test_the_text_of_a_stranger_s_error_is_not_told() -> None:
    assert failure_of(RuntimeError("key sk-1")).text == "the provider's library failed (RuntimeError)"


def test_an_error_without_words_is_named(exceptions: ModuleType) -> None:
    error = exceptions.ProviderError("", ConnectionError())
    assert failure_of(error).text == "the provider's library failed (ConnectionError)"

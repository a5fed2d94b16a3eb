from __future__ import annotations

import pytest
from any_llm import exceptions

from pytest_fcall.backends.any.backend import failure_of
from pytest_fcall.backends.provider_failures import Blame


@pytest.mark.parametrize(
    ("error", "blame"),
    [
        (exceptions.AuthenticationError("No."), "model"),
        (exceptions.InsufficientFundsError("No."), "model"),
        (exceptions.ModelNotFoundError("No."), "model"),
        (exceptions.RateLimitError("Later."), "throttled"),
        (exceptions.ContextLengthExceededError("Too much."), "case"),
        (exceptions.ContentFilterError("No."), "case"),
        (exceptions.InvalidRequestError("No."), "case"),
        (exceptions.UnsupportedParameterError("top_p", "exam"), "case"),
        (exceptions.ProviderError("Broken."), "again"),
        (exceptions.UpstreamProviderError("Broken."), "again"),
        (exceptions.GatewayTimeoutError("Late."), "again"),
        (exceptions.ProviderError("Broken.", KeyError("choices")), "again"),
        (exceptions.ProviderError("Broken.", status_code=500), "again"),
        (exceptions.ProviderError("Overloaded.", status_code=529), "throttled"),
        (exceptions.InvalidRequestError("No.", status_code=422), "case"),
        (NotImplementedError("no completions here"), "model"),
        (ZeroDivisionError(), "again"),
    ],
)
def test_whatever_is_raised_is_somebody_s_fault(error: Exception, blame: Blame) -> None:
    assert failure_of(error).kind.blame == blame


def test_codes_count_wherever_they_are_told() -> None:
    error = exceptions.InvalidRequestError("No.", status_code=400, code="Context_Length_Exceeded", error_type="bad")
    assert {"context_length_exceeded", "bad"} <= failure_of(error).codes


def test_the_text_of_a_stranger_s_error_is_not_told() -> None:
    assert failure_of(RuntimeError("key sk-1")).text == "the provider's library failed (RuntimeError)"

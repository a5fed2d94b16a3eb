"""What providers say when they do not answer, written after their forms."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.provider_failures import (
    FAILURE_KINDS,
    Blame,
    ProviderFailure,
    Redactor,
    long_secrets,
    read_failure,
    reply_or_raise,
)
from pytest_fcall.core import CaseRefused, Json, ModelUnavailable, Unanswered


def openai(message: str = "No.", code: Json = None, kind: str | None = None, **more: Json) -> Json:
    return {"error": {"message": message, "type": kind, "param": None, "code": code, **more}}


def vllm(message: str, code: int = 400, kind: str = "BadRequestError") -> Json:
    return {"object": "error", "message": message, "type": kind, "param": None, "code": code}


def google(code: int, message: str, status: str, *details: Json) -> Json:
    return [{"error": {"code": code, "message": message, "status": status, "details": list(details)}}]


def anthropic(kind: str, message: str) -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


FAILURES: list[tuple[Blame, int, Json]] = [
    # Groq
    ("malformed", 400, openai("Failed to call a function.", "tool_use_failed", failed_generation="<function=f>")),
    ("malformed", 400, openai("Failed to call a function. Please adjust your prompt.")),
    ("malformed", 400, openai("tool call validation failed: parameters for tool f did not match schema")),
    ("malformed", 400, openai("Parsing failed.", "output_parse_failed")),
    # Ollama
    ("malformed", 500, {"error": "error parsing tool call: raw='{\"a\":', err=unexpected end of JSON input"}),
    ("malformed", 500, openai("XML syntax error on line 5: unexpected EOF", kind="api_error")),
    ("model", 400, openai("registry.ollama.ai/library/gemma:2b does not support tools", kind="api_error")),
    ("model", 404, openai("model 'llama9' not found", kind="not_found_error")),
    ("throttled", 503, {"error": "server busy, please try again.  maximum pending requests exceeded"}),
    ("again", 500, openai("llama runner process has terminated: exit status 2", kind="api_error")),
    # llama.cpp
    ("malformed", 500, openai("Failed to parse input at pos 184: <tool_call>", 500, "server_error")),
    ("malformed", 500, openai("Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]", 500)),
    ("case", 400, openai("request (5000 tokens) exceeds the available context size (4096 tokens)", 400)),
    ("case", 400, openai("Too long", 400, "exceed_context_size_error", n_prompt_tokens=5000, n_ctx=4096)),
    ("model", 500, openai("tools param requires --jinja flag", 500, "server_error")),
    ("again", 503, openai("Loading model", 503, "unavailable_error")),
    ("model", 404, openai("File Not Found", 404, "not_found_error")),
    # transformers serve
    ("model", 400, {"detail": "Server is pinned to 'smollm2'; requested 'm'."}),
    ("case", 422, {"detail": "Unexpected fields in the request: {'strange'}"}),
    # OpenAI
    ("malformed", 500, openai("The model produced invalid content.", kind="model_error")),
    ("length", 400, openai("Could not finish the message because max_tokens or model output limit was reached.")),
    ("case", 400, openai("This model's maximum context length is 8192 tokens.", "context_length_exceeded")),
    ("case", 400, openai("Invalid 'input': string too long.", "string_above_max_length")),
    ("case", 400, openai("Your prompt was flagged as potentially violating our usage policy.", "invalid_prompt")),
    ("case", 400, openai("Invalid schema for function 'f'", "invalid_function_parameters", "invalid_request_error")),
    ("case", 400, openai("Unsupported parameter: 'max_tokens'", "unsupported_parameter")),
    ("case", 429, openai("Request too large for m on tokens per min (TPM): Limit 10, Requested 20.", kind="tokens")),
    ("throttled", 429, openai("Rate limit reached for m on tokens per min (TPM)", "rate_limit_exceeded", "tokens")),
    ("model", 429, openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota")),
    ("model", 429, openai("Your account is not active, please check your billing details", "billing_not_active")),
    ("model", 401, openai("Incorrect API key provided: sk-a***z.", "invalid_api_key", "invalid_request_error")),
    ("model", 404, openai("The model `m` does not exist or you do not have access to it.", "model_not_found")),
    ("model", 403, openai("Country not supported", "unsupported_country_region_territory")),
    ("model", 403, openai("Project `p` does not have access to model `m`", "model_not_found")),
    ("again", 500, openai("The server had an error while processing your request.", kind="server_error")),
    ("throttled", 503, openai("The engine is currently overloaded, please try again later")),
    # Azure
    ("case", 400, openai("The response was filtered due to the prompt triggering our content management policy.")),
    ("case", 400, openai(code="content_filter", innererror={"code": "ResponsibleAIPolicyViolation"})),
    ("model", 404, openai("The API deployment for this resource does not exist.", "DeploymentNotFound")),
    ("model", 401, openai("Access denied due to invalid subscription key or wrong API endpoint.", "401")),
    ("throttled", 429, openai("Requests have exceeded call rate limit. Please retry after 26 seconds.", "429")),
    # Google
    ("model", 400, google(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT")),
    ("model", 400, google(400, "Key", "INVALID_ARGUMENT", {"reason": "API_KEY_INVALID"})),
    ("model", 400, google(400, "User location is not supported for the API use.", "FAILED_PRECONDITION")),
    ("model", 404, google(404, "models/m is not found for API version v1beta", "NOT_FOUND")),
    ("model", 429, google(429, "Quota exceeded, quotaId: GenerateRequestsPerDayPerProject", "RESOURCE_EXHAUSTED")),
    ("model", 429, google(429, "Quota exceeded for metric: requests, limit: 0", "RESOURCE_EXHAUSTED")),
    ("throttled", 429, google(429, "Resource has been exhausted", "RESOURCE_EXHAUSTED", {"retryDelay": "12s"})),
    ("throttled", 503, google(503, "The model is overloaded. Please try again later.", "UNAVAILABLE")),
    ("case", 400, google(400, "The input token count exceeds the maximum number of tokens allowed", "INVALID")),
    # Anthropic
    ("model", 401, anthropic("authentication_error", "invalid x-api-key")),
    ("model", 403, anthropic("permission_error", "Your key may not use this.")),
    ("model", 404, anthropic("not_found_error", "model: claude-9")),
    ("model", 400, anthropic("invalid_request_error", "Your credit balance is too low to access the API.")),
    ("case", 400, anthropic("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")),
    ("case", 413, anthropic("request_too_large", "Request exceeds the maximum size")),
    ("throttled", 429, anthropic("rate_limit_error", "This request would exceed your rate limit")),
    ("throttled", 529, anthropic("overloaded_error", "Overloaded")),
    ("again", 500, anthropic("api_error", "Internal server error")),
    # vLLM, SGLang
    ("model", 400, vllm('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')),
    ("model", 404, vllm("The model `m` does not exist.", 404, "NotFoundError")),
    ("model", 401, {"error": "Unauthorized"}),
    ("case", 400, vllm("This model's maximum context length is 2048 tokens. However, you requested 3000.")),
    ("case", 400, vllm("The input (5000 tokens) is longer than the model's context length (4096 tokens).")),
    ("again", 500, "Internal Server Error"),
    ("malformed", 500, vllm("tool arguments: Expecting ',' delimiter: line 1 column 9 (char 8)", 500)),
    ("again", 500, vllm("Expecting value: line 1 column 1 (char 0)", 500)),
    # OpenRouter
    ("model", 402, openai("Insufficient credits. Add more.", 402)),
    ("model", 200, openai("Insufficient credits. Add more.", 402)),
    ("model", 400, openai("m/n is not a valid model ID", 400)),
    ("model", 404, openai("No endpoints found that support tool use.", 404)),
    ("model", 429, openai("Rate limit exceeded: free-models-per-day", 429)),
    ("throttled", 429, openai("Rate limit exceeded: free-models-per-min", 429)),
    ("case", 403, openai("m requires moderation. Your input was flagged", 403, metadata={"reasons": ["violence"]})),
    ("again", 200, openai("Provider returned error", 502, metadata={"raw": "upstream", "provider_name": "X"})),
    ("case", 400, openai("Provider returned error", 400, metadata={"raw": '{"error": "prompt is too long"}'})),
    # LM Studio
    ("model", 200, {"error": "Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"}),
    ("model", 404, openai("No models loaded. Please load a model in the developer page.", "model_not_found")),
    ("model", 400, {"error": "No models loaded. Please load a model in the developer page."}),
    ("case", 400, {"error": "Trying to keep the first 5000 tokens when context the overflows."}),
    # Others
    ("model", 422, {"detail": [{"msg": "The budget has been exceeded! Current cost: 5"}]}),
    ("model", 400, openai("Over", "budget_exceeded", "budget_exceeded")),
    ("model", 412, openai("Account acme is suspended, possibly due to reaching the monthly spending limit")),
    ("model", 403, {"code": "denied", "error": "Your team has reached its monthly spending limit."}),
    ("model", 400, {"code": "invalid", "error": "Incorrect API key provided: xa***bc."}),
    ("model", 400, {"__type": "ExpiredTokenException", "message": "The security token is expired"}),
    ("model", 400, {"object": "error", "message": "Invalid model: m", "type": "invalid_model", "code": "1500"}),
    ("model", 400, openai("Not here", "model_not_supported")),
    ("malformed", 424, {"message": "Model produced invalid sequence as part of ToolUse. See the guide."}),
    ("case", 422, {"error": "Input validation error: `inputs` must have less than 4096 tokens", "type": "x"}),
    ("case", 422, {"message": "Bad", "detail": [{"loc": ["body"], "msg": "field required"}]}),
    ("case", 400, {"message": "litellm.ContentPolicyViolationError: no"}),
    ("case", 400, openai("Too much", "context_window_exceeded")),
    ("case", 400, openai("This is longer: the prompt exceeds the context window of 4096")),
    ("throttled", 400, {"__type": "ThrottlingException", "message": "Too many tokens, please wait."}),
    ("throttled", 429, {"message": "Too many tokens, please wait before trying again."}),
    ("case", 400, {"message": "too many tokens: size limit exceeded by 12 tokens"}),
    ("case", 413, "<html><title>413 Request Entity Too Large</title></html>"),
    ("throttled", 400, openai("Wait", "queue_exceeded", "too_many_requests_error")),
    ("again", 424, {"error": "Request failed during generation", "error_type": "generation"}),
    ("again", 408, "Request Timeout"),
    ("again", 409, None),
    ("again", 425, None),
    ("again", 524, "<html><title>A timeout occurred</title></html>"),
    ("model", 403, "<html><title>Attention Required!</title></html>"),
    ("model", 404, "Not Found"),
    ("model", 404, {"detail": "Not Found"}),
    ("model", 405, {"detail": "Method Not Allowed"}),
    ("model", 407, ""),
    ("case", 400, ""),
    ("case", 422, [1, "two", None]),
    ("again", 302, None),
]


def failed(status: int, body: Json) -> ProviderFailure:
    return read_failure(status, body, {})


@pytest.mark.parametrize(
    ("blame", "status", "body"), [pytest.param(*row, id=f"{row[1]} {json.dumps(row[2])[:90]}") for row in FAILURES]
)
def test_a_failure_is_blamed_on_whoever_failed(blame: Blame, status: int, body: Json) -> None:
    assert failed(status, body).kind.blame == blame


def test_each_row_of_the_table_has_a_failure_that_needs_it() -> None:
    ours = [
        ProviderFailure("x", codes=frozenset({word}))
        for word in (
            *("untrusted_certificate", "refused_before_it_was_sent", "unusable_proxy", "lost_by_redirect"),
            *("too_long_answer", "no_connection"),
        )
    ]
    needed = {*(failure.kind for failure in ours), *(failed(status, body).kind for _, status, body in FAILURES)}
    assert [kind for kind in FAILURE_KINDS if kind not in needed] == []


def test_each_advice_is_explained() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/failures.md").read_text(encoding="utf-8")
    assert [kind.advice for kind in FAILURE_KINDS if kind.advice.partition(";")[0] not in page] == []


def told(failure: ProviderFailure) -> str:
    """What people are told, by an error or by a reply."""
    try:
        return reply_or_raise(failure, Redactor("openai:m")).malformed or "The answer was cut off."
    except (ModelUnavailable, CaseRefused, Unanswered) as error:
        return str(error)


@pytest.mark.parametrize(("blame", "status", "body"), FAILURES)
def test_each_is_told_in_one_line(blame: Blame, status: int, body: Json) -> None:
    line = told(failed(status, body))
    assert line.startswith("The " if blame in ("malformed", "length") else "openai:m: ")
    assert len(line.splitlines()) == 1
    assert 20 < len(line) < 600


def test_what_a_provider_says_is_told_whole_and_found_where_it_lies() -> None:
    metadata = {"raw": '{"detail": "GPU lost"}', "provider_name": "X"}
    failure = failed(200, openai("Provider returned error", 502, metadata=metadata))
    assert failure.status == 502
    assert failure.text == 'Provider returned error {"detail": "GPU lost"}'
    assert failed(500, {"message": {"detail": [{"msg": "one"}, {"msg": "two"}]}}).text == "one two"
    assert failed(502, "<html><head><title> Bad\n gateway </title>").text == "a web page, 'Bad\\n gateway'"
    assert failed(500, "x" * 1_000_000).text == "x" * 4000


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({}, None, None),
        ({"retry-after": "2.5"}, None, 2.5),
        ({"retry-after": "Sat, 21 Nov 2026 16:31:00 GMT"}, None, 60.0),
        ({"retry-after": "Sat, 21 Nov 2026 16:29:00 GMT"}, None, 0.0),
        ({"retry-after": "nan"}, None, None),
        ({"retry-after": "Sat, 99 Nov 2026 16:29:00 GMT"}, None, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, None, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, None, 9.0),
        ({}, google(429, "Wait", "X", {"retryDelay": "1.5s"}), 1.5),
        ({}, google(429, "Wait", "X", {"retryDelay": 3}), None),
        ({"retry-after": "0"}, google(429, "Wait", "X", {"retryDelay": "3s"}), 0.0),
    ],
)
def test_the_time_to_wait_is_read(headers: dict[str, str], body: Json, seconds: float | None) -> None:
    now = datetime(2026, 11, 21, 16, 30, tzinfo=UTC)
    assert read_failure(429, body, headers, now).retry_after == seconds


def test_secrets_are_hidden_before_a_text_is_cut() -> None:
    redactor = Redactor("openai:m", long_secrets(["hunter22", "hunter22-long", "no", ""]))
    assert redactor.shortened("no hunter22-long and\n hunter22") == "no … and …"
    assert redactor.shortened("x" * 296 + "hunter22") == "x" * 296 + "…"
    assert len(redactor.shortened("x" * 1000)) == 300


@pytest.mark.parametrize("token", ["sk-abcd1234", "sk-proj-ab***yz", "Bearer abc.def", "gsk_12345", "AIzaSyA-123"])
def test_what_looks_like_a_key_is_hidden_though_nobody_named_it(token: str) -> None:
    assert Redactor("m").shortened(f"You sent {token}, which is wrong.") == "You sent …, which is wrong."


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "message", "code", "type", "details", "detail", "x"]), inner)
    ),
)


@given(st.integers(100, 999) | st.none(), JSON, st.dictionaries(st.sampled_from(["retry-after"]), st.text()))
def test_any_body_is_told_in_one_line(status: int | None, body: Json, headers: dict[str, str]) -> None:
    assert len(told(read_failure(status, body, headers)).splitlines()) == 1

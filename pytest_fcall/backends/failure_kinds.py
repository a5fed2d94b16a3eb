"""The kinds of failures of providers: whose fault each is, and what to do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Blame: TypeAlias = Literal["model", "case", "again", "unreachable", "throttled", "malformed", "length"]
"""`model`: every request to this model would fail. `case`: this request will always fail. `again`, `unreachable`,
`throttled`: it may succeed later. `malformed`, `length`: the model itself failed, and that is its reply."""


@dataclass(frozen=True, slots=True)
class FailureKind:
    """A row of the table. It matches a failure that has one of the statuses, one of the codes and the pattern, as far
    as the row has them.
    """

    blame: Blame
    advice: str
    """Advice, or the fault where nothing can be done; `{key}` stands for the variable with the key."""
    statuses: frozenset[int] = frozenset()
    codes: frozenset[str] = frozenset()
    """Codes, types and reasons, in lower case."""
    pattern: str = ""
    """A regular expression, compiled at the first failure: there are many, and most runs need none."""
    quotes_provider: bool = True
    """Whether the provider's own text is shown. Texts about keys may contain one."""

    def matches(self, status: int | None, codes: frozenset[str], text: str) -> bool:
        """Whether a failure is of this kind."""
        return (
            (not self.statuses or status in self.statuses)
            and (not self.codes or not self.codes.isdisjoint(codes))
            and (not self.pattern or re.search(self.pattern, text, re.IGNORECASE) is not None)
        )


def _kind(
    blame: Blame, advice: str, *, status: str = "", codes: str = "", text: str = "", quotes_provider: bool = True
) -> FailureKind:
    statuses = frozenset(code for part in status.split() for code in _status_range(part))
    return FailureKind(blame, advice, statuses, frozenset(codes.split()), text, quotes_provider)


def _status_range(part: str) -> range:
    first, _, last = part.partition("-")
    return range(int(first), int(last or first) + 1)


_CALL = "the model's call could not be read by the provider"
_CUT = "the model's answer was cut off by its length limit"
_KEY = "the API key was not accepted; check the variable {key}"
_MONEY = "no quota or credit is left; check the account's billing page"
_NAME = "the provider has no model of this name, or none that this key may use"
_PLACE = "nothing at this address; `base_url` usually ends in /v1"
_RIGHTS = "this key or account is not allowed to use the model"
_NO_TOOLS = "this model takes no tools here; with `mode=prompt` they are described in the prompt instead"
_PARSER = "the server has no parser for tool calls; start vLLM with --enable-auto-tool-choice and --tool-call-parser"
_JINJA = "the server takes no tools; start llama.cpp's server with --jinja"
_LONG = "the request is longer than the model takes"
_FILTER = "the provider's content filter stopped the prompt"
_UNSENT = "the provider's library rejects this request"
_REFUSED = "the provider rejects this request"
_BUSY = "too many requests at a time"
_BROKEN = "the server failed"
_CERTIFICATE = "the server's certificate is not trusted; set SSL_CERT_FILE to a file with the trusted certificates"
_PROXY = "the proxy requires authentication; check the variables HTTP_PROXY and HTTPS_PROXY"
_NO_PROXY = "no request can be sent through the proxy that the environment names; SOCKS is not supported"
_LOST = "the server's redirects lead nowhere; `base_url` must be the address that answers"
_UNREADABLE = "the server's answer is no model's"

_JSON_FAULT = r"(expecting|unterminated string|extra data|invalid .{0,8}escape).*\(char \d"
"""Python's messages for broken JSON. That of a call is the model's; any other is the server's own."""
_REQUEST_STATUSES = "200 400-499"
"""Statuses that come with a description of what is wrong with the request. Some providers use 200."""
NOT_SENT = "refused_before_it_was_sent"
"""Our code for a request that a provider's library rejects."""
UNUSABLE_PROXY = "unusable_proxy"
"""Our code for an environment that names no HTTP proxy where it names one."""
NO_CONNECTION = "no_connection"
"""Our code for a server that cannot be reached."""
LOST_BY_REDIRECT = "lost_by_redirect"
"""Our code for a server whose redirects lead to no answer."""
TOO_LONG = "too_long_answer"
"""Our code for an answer that was not read to its end."""

# The first row that matches a failure decides.
FAILURE_KINDS: tuple[FailureKind, ...] = (
    # The model's own failures come first: they hide behind any status.
    _kind("malformed", _CALL, codes="tool_use_failed output_parse_failed malformed_function_call model_error"),
    _kind(
        "malformed",
        _CALL,
        text="failed to call a function|tool call validation failed"
        "|model produced invalid (content|sequence as part of tooluse)",
    ),
    _kind(
        "malformed",
        _CALL,
        status="500",
        text="error parsing tool call|xml syntax error|failed to parse (input at pos|tool call|arguments)"
        rf"|\b(tool|function|argument).*{_JSON_FAULT}",
    ),
    _kind("length", _CUT, status="400", text="max_tokens or model output limit was reached"),
    # Too long for the model.
    _kind(
        "case",
        _LONG,
        codes="context_length_exceeded exceed_context_size_error string_above_max_length context_window_exceeded "
        "request_too_large model_context_window_exceeded",
    ),
    _kind(
        "case",
        _LONG,
        text=r"maximum (context|prompt) length|context (length|size|window)\b.*(exceed|overflow)"
        r"|(exceed|longer than|larger than|overflow).*\bcontext (length|size|window)"
        "|prompt is too long|input is too long|too many tokens: |context the overflows"
        "|exceeds the (available context|maximum number of tokens)|`?inputs`? (tokens|must have less than)",
    ),
    _kind("case", _LONG, status="429", text="request too large"),
    _kind("case", _LONG, status="413"),
    # Stopped before the model saw it.
    _kind(
        "case",
        _FILTER,
        codes="content_filter responsibleaipolicyviolation content_policy_violation invalid_prompt moderation_blocked "
        "data_inspection_failed",
    ),
    _kind(
        "case",
        _FILTER,
        text=r"content management policy|violat\w+ (our|the) usage polic|requires moderation"
        "|contentpolicyviolationerror|flagged (by|as potentially)",
    ),
    _kind("case", _UNSENT, codes=NOT_SENT),
    _kind("case", _UNREADABLE, codes=TOO_LONG),
    # Nothing is left to pay with. Providers use 400, 402, 403, 412 and 429 for it.
    _kind("model", _MONEY, status="402"),
    _kind(
        "model",
        _MONEY,
        codes="insufficient_quota billing_not_active billing_hard_limit_reached billing_error budget_exceeded "
        "insufficient_balance",
    ),
    _kind(
        "model",
        _MONEY,
        status=_REQUEST_STATUSES,
        text="credit balance is too low|insufficient (credit|balance|fund|quota)"
        "|(reached|exceeded) (its|your) (monthly|hard|spending)|budget has been exceeded"
        "|account .*(is suspended|is not active)|used all available credits",
    ),
    _kind("model", _MONEY, status="429", text=r"perday|per-day|per day|limit: 0\b"),
    # A wrong key. Some providers use 400 for it.
    _kind("model", _KEY, status="401", quotes_provider=False),
    _kind(
        "model",
        _KEY,
        codes="invalid_api_key api_key_invalid authentication_error unauthenticated expiredtokenexception "
        "unrecognizedclientexception",
        quotes_provider=False,
    ),
    _kind(
        "model",
        _KEY,
        status=_REQUEST_STATUSES,
        text="(incorrect|invalid) api.?key|api.?key (not valid|is invalid|expired)",
        quotes_provider=False,
    ),
    # A wrong model, address or server.
    _kind(
        "model",
        _NO_TOOLS,
        status=_REQUEST_STATUSES,
        text=r"does not support (tools|functions?\b|tool use|tool call|function call)"
        "|no endpoints found that support tool use|tools? (is|are) not supported",
    ),
    _kind("model", _PARSER, text="--enable-auto-tool-choice|tool-call-parser"),
    _kind("model", _JINJA, text="requires --jinja|--jinja flag"),
    _kind(
        "model",
        _NAME,
        codes="model_not_found deploymentnotfound invalid_model model_not_available model_not_supported "
        "model_not_exist unsupported_model",
    ),
    _kind("model", _NAME, status="404", text="^model: "),
    _kind(
        "model",
        _NAME,
        status=_REQUEST_STATUSES,
        text=r"\bmodel\b.{0,200}(not exist|not found)"
        "|is not a valid model|invalid model|unable to access model|no models? loaded|^server is pinned to ",
    ),
    _kind("model", _PLACE, text="unexpected endpoint or method"),
    _kind("model", _RIGHTS, codes="unsupported_country_region_territory permission_error permission_denied"),
    _kind("model", _RIGHTS, text="user location is not supported"),
    _kind("model", _RIGHTS, status="403"),
    _kind("model", _PLACE, status="404 405 410"),
    _kind("model", _PROXY, status="407"),
    _kind("model", _CERTIFICATE, codes="untrusted_certificate"),
    _kind("model", _NO_PROXY, codes=UNUSABLE_PROXY),
    _kind("model", _LOST, codes=LOST_BY_REDIRECT),
    # What may be different the next time.
    _kind("unreachable", _BROKEN, codes=NO_CONNECTION),
    _kind("throttled", _BUSY, status="429"),
    _kind(
        "throttled",
        _BUSY,
        codes="rate_limit_exceeded rate_limit_error too_many_requests throttlingexception resource_exhausted "
        "overloaded_error engine_overloaded queue_exceeded",
    ),
    _kind("throttled", _BUSY, status="503 529", text="overloaded|too many requests|server busy|maximum pending"),
    _kind("again", _BROKEN, status="408 409 423 424 425 500-599"),
    _kind("case", _REFUSED, status="400-499"),
    _kind("again", _BROKEN),
)

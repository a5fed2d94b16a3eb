"""Failures of providers: their kinds, the reading of an error body, and the exception or Reply that follows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Literal, TypeAlias

from pytest_fcall.core.backend import CaseRefused, ModelUnavailable, Unanswered
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json

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


_SHOWN_LENGTH = 300
_TOKENS = re.compile(r"(?i)\b(bearer\s+|sk-|gsk_|xai-|AIza)[\w*.~+/=-]{4,}")
_SHORTEST_SECRET = 4
"""A shorter secret would be found in ordinary words."""


@dataclass(frozen=True, slots=True)
class ProviderFailure:
    """The failure of a provider, a server or the connection to it."""

    text: str
    status: int | None = None
    codes: frozenset[str] = frozenset()
    """Codes, types and reasons, in lower case."""
    generated: str = ""
    """The text that the model had written, where the provider reports it."""
    retry_after: float | None = None
    billable: bool = False
    """Whether the provider may bill for the request; see `Unanswered`."""

    @property
    def kind(self) -> FailureKind:
        """The first matching row of the table; the last row matches everything."""
        return next(kind for kind in FAILURE_KINDS if kind.matches(self.status, self.codes, self.text))


@dataclass(frozen=True, slots=True)
class Redactor:
    """Writes messages about a model, without secrets."""

    model: str
    secrets: tuple[str, ...] = ()
    key_variable: str = "that holds it"

    def message(self, *parts: str) -> str:
        """Join the parts that are not empty to one line of limited length."""
        text = ": ".join(part for part in map(self.shortened, parts) if part)
        return f"{self.model}: {text}"

    def shortened(self, text: str) -> str:
        """Remove secrets and line breaks from a text, and cut it."""
        line = self.redacted(text)
        return line if len(line) <= _SHOWN_LENGTH else f"{line[: _SHOWN_LENGTH - 1]}…"

    def redacted(self, text: str) -> str:
        """Remove secrets and line breaks from a text."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            text = text.replace(secret, "…")
        return " ".join(_TOKENS.sub("…", text).split())


def long_secrets(values: Iterable[str]) -> tuple[str, ...]:
    """The values that are long enough not to occur in a text by chance."""
    return tuple({value for value in values if len(value) >= _SHORTEST_SECRET})


def reply_or_raise(failure: ProviderFailure, redactor: Redactor) -> Reply:
    """The reply of a model that failed itself. Raises ModelUnavailable, CaseRefused or Unanswered for others."""
    kind = failure.kind
    advice = kind.advice.format(key=redactor.key_variable)
    status = f"HTTP {failure.status}" if failure.status and failure.status != 200 else ""
    quoted = failure.text if kind.quotes_provider else ""
    match kind.blame:
        case "malformed":
            reason = redactor.shortened(f"{advice}: {quoted}" if quoted else advice)
            return Reply(text=failure.generated, malformed=f"{reason[:1].upper()}{reason[1:]}", finish="unknown")
        case "length":
            return Reply(text=failure.generated, finish="length")
        case "model":
            raise ModelUnavailable(redactor.message(advice, status, quoted))
        case "case":
            raise CaseRefused(redactor.message(advice, status, quoted))
        case blame:
            message = redactor.message(advice if failure.status else "", status, quoted)
            raise Unanswered(
                message,
                retry_after=failure.retry_after,
                throttled=blame == "throttled",
                billable=failure.billable,
                unreachable=blame == "unreachable",
            )


_CODE_KEYS = ("code", "type", "status", "error_type", "reason", "__type")
_NESTED_KEYS = ("error", "choices", "innererror", "details", "metadata", "errors", "message", "detail")
_TEXT_KEYS = ("message", "detail", "msg", "error", "raw", "error_message", "title")
_MAX_DEPTH = 6
_MAX_TEXT = 4000
"""Characters of a text that are searched."""


def read_failure(
    status: int | None, body: Json, headers: Mapping[str, str], now: datetime | None = None
) -> ProviderFailure:
    """Read the body of an error. `headers` have names in lower case; `now` is compared with dates in them."""
    parts = list(_objects(body))
    text = " ".join(dict.fromkeys(_texts(parts))) or (body if isinstance(body, str) else "")
    status = _status(status, parts)
    waits = (_wait_in_headers(headers, now or datetime.now(UTC)), _wait_in_body(parts))
    generations = (part.get("failed_generation") for part in parts)
    return ProviderFailure(
        text=(_without_html(text) or _phrase(status))[:_MAX_TEXT],
        status=status,
        codes=frozenset(_codes(parts)),
        generated=next((each for each in generations if isinstance(each, str)), ""),
        retry_after=next((wait for wait in waits if wait is not None), None),
    )


def _objects(value: Json, depth: int = 0) -> Iterator[Mapping[str, Json]]:
    """The body and the objects in it that describe the failure, from the outside in."""
    if isinstance(value, Mapping) and depth < _MAX_DEPTH:
        yield value
        for key in _NESTED_KEYS:
            yield from _objects(value.get(key), depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, str) and depth < _MAX_DEPTH:
        for item in value[:10]:
            yield from _objects(item, depth + 1)


def _texts(parts: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    for part in parts:
        for key in _TEXT_KEYS:
            if isinstance(text := part.get(key), str) and text.strip():
                yield text.strip()


def _codes(parts: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    for part in parts:
        for key in _CODE_KEYS:
            if isinstance(code := part.get(key), str):
                yield code.lower()


def _status(status: int | None, parts: Sequence[Mapping[str, Json]]) -> int | None:
    """The HTTP status, or the one in the body where the HTTP status is a good one."""
    if status is not None and status >= 400:
        return status
    codes = (part.get(key) for part in parts for key in ("code", "status", "status_code"))
    return next((code for code in codes if isinstance(code, int) and 400 <= code <= 599), status)


def _without_html(text: str) -> str:
    """The text, or the title of a web page."""
    if not text.lstrip().startswith("<"):
        return text
    title = re.search(r"(?is)<title>(.{1,200}?)</title>", text[:10_000])
    return f"a web page, {title[1].strip()!r}" if title else "a web page"


def _phrase(status: int | None) -> str:
    return next((known.phrase for known in HTTPStatus if known == status and known >= 400), "")


def _wait_in_headers(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait, from `retry-after-ms` (milliseconds) or `retry-after` (seconds, or a date)."""
    if (seconds := _seconds(headers.get("retry-after-ms", ""), "ms")) is not None:
        return seconds
    retry_after = headers.get("retry-after", "")
    if (seconds := _seconds(retry_after, "s")) is not None:
        return seconds
    try:
        then = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - now).total_seconds())


def _wait_in_body(parts: Sequence[Mapping[str, Json]]) -> float | None:
    """Seconds to wait, from a body such as Google's: `"retryDelay": "12s"`."""
    delays = (part.get("retryDelay") for part in parts)
    return next((_seconds(delay.removesuffix("s"), "s") for delay in delays if isinstance(delay, str)), None)


def _seconds(text: str, unit: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number / 1000 if unit == "ms" else number) if math.isfinite(number) else None

"""Failures of providers: how an error body is read, whose fault it is, and the exception or Reply that follows.

The first row of the table that fits a failure counts.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Literal, TypeAlias, cast

from pytest_fcall.core import CaseRefused, Json, ModelUnavailable, Reply, Unanswered

Blame: TypeAlias = Literal["model", "case", "again", "throttled", "malformed", "length"]
"""`model`: every request to this model would fail. `case`: this one always will. `again`, `throttled`: it may yet be
answered. `malformed`, `length`: the model itself failed, and that is its answer."""


@dataclass(frozen=True, slots=True)
class FailureKind:
    """A row: fits a failure that has one of the statuses, one of the words and the pattern, of those it names."""

    blame: Blame
    advice: str
    """What to do, or what is wrong where there is nothing to do; `{key}` stands for the variable with the key."""
    statuses: frozenset[int] = frozenset()
    words: frozenset[str] = frozenset()
    """Codes, types and reasons, in lower case."""
    pattern: re.Pattern[str] | None = None
    quoted: bool = True
    """Whether the provider's own words are shown; where keys are spoken of, they may hold one."""

    def fits(self, status: int | None, words: frozenset[str], text: str) -> bool:
        """Whether this row speaks of such a failure."""
        return (
            (not self.statuses or status in self.statuses)
            and (not self.words or not self.words.isdisjoint(words))
            and (self.pattern is None or self.pattern.search(text) is not None)
        )


def _kind(
    blame: Blame, advice: str, *, status: str = "", words: str = "", text: str = "", quoted: bool = True
) -> FailureKind:
    statuses = frozenset(code for part in status.split() for code in _status_range(part))
    pattern = re.compile(text, re.IGNORECASE) if text else None
    return FailureKind(blame, advice, statuses, frozenset(words.split()), pattern, quoted)


def _status_range(part: str) -> range:
    first, _, last = part.partition("-")
    return range(int(first), int(last or first) + 1)


_CALL = "the model's call could not be read by the provider"
_CUT = "the model's answer was cut off by its length limit"
_KEY = "the API key was not accepted; look at the variable {key}"
_MONEY = "no quota or credit is left; look at the account's billing page"
_NAME = "the provider has no model of this name, or none that this key may use"
_PLACE = "there is no such address; `base_url` mostly ends in /v1"
_RIGHTS = "the provider refuses this key or account"
_NO_TOOLS = "this model takes no tools here; `mode=prompt` tells them in the prompt instead"
_PARSER = "the server has no parser for tool calls; start vLLM with --enable-auto-tool-choice and --tool-call-parser"
_JINJA = "the server takes no tools; start llama.cpp's server with --jinja"
_LONG = "the request is longer than the model takes"
_FILTER = "the provider's content filter stopped the prompt"
_UNSENT = "the provider's library does not take this request"
_REFUSED = "the provider refuses this request"
_BUSY = "too many requests at a time"
_BROKEN = "the server failed"
_CERTIFICATE = "the server's certificate is not trusted; SSL_CERT_FILE names a file of those that are"
_PROXY = "the proxy wants a login; look at the variables HTTP_PROXY and HTTPS_PROXY"

_JSON_FAULT = r"(expecting|unterminated string|extra data|invalid .{0,8}escape).*\(char \d"
"""Python's words for broken JSON. That of a call is the model's; any other is the server's own."""
_REQUEST_STATUSES = "200 400-499"
"""Statuses that come with what is wrong with the request. Some say it with a good one."""

FAILURE_KINDS: tuple[FailureKind, ...] = (
    # The model's own failures come first: they hide behind any status.
    _kind("malformed", _CALL, words="tool_use_failed output_parse_failed malformed_function_call model_error"),
    _kind("malformed", _CALL, text=r"failed to call a function|tool call validation failed"),
    _kind("malformed", _CALL, status="500", text=r"error parsing tool call|xml syntax error"),
    _kind("malformed", _CALL, status="500", text=r"failed to parse (input at pos|tool call|arguments)"),
    _kind("malformed", _CALL, text=r"model produced invalid (content|sequence as part of tooluse)"),
    _kind("malformed", _CALL, status="500", text=r"\b(tool|function|argument).*" + _JSON_FAULT),
    _kind("length", _CUT, status="400", text=r"max_tokens or model output limit was reached"),
    # Too long for the model, however often it is asked.
    _kind("case", _LONG, words="context_length_exceeded exceed_context_size_error string_above_max_length"),
    _kind("case", _LONG, words="context_window_exceeded request_too_large model_context_window_exceeded"),
    _kind("case", _LONG, text=r"maximum (context|prompt) length|context (length|size|window)\b.*(exceed|overflow)"),
    _kind("case", _LONG, text=r"(exceed|longer than|larger than|overflow).*\bcontext (length|size|window)"),
    _kind("case", _LONG, text=r"prompt is too long|input is too long|too many tokens: |context the overflows"),
    _kind("case", _LONG, text=r"exceeds the (available context|maximum number of tokens)"),
    _kind("case", _LONG, text=r"`?inputs`? (tokens|must have less than)"),
    _kind("case", _LONG, status="429", text=r"request too large"),
    _kind("case", _LONG, status="413"),
    # Stopped before the model saw it.
    _kind("case", _FILTER, words="content_filter responsibleaipolicyviolation content_policy_violation"),
    _kind("case", _FILTER, words="invalid_prompt moderation_blocked data_inspection_failed"),
    _kind("case", _FILTER, text=r"content management policy|violat\w+ (our|the) usage polic|requires moderation"),
    _kind("case", _FILTER, text=r"contentpolicyviolationerror|flagged (by|as potentially)"),
    _kind("case", _UNSENT, words="refused_before_it_was_sent"),
    # Nothing is left to pay with. Providers say so by 400, 402, 403, 412 and 429.
    _kind("model", _MONEY, status="402"),
    _kind("model", _MONEY, words="insufficient_quota billing_not_active billing_hard_limit_reached billing_error"),
    _kind("model", _MONEY, words="budget_exceeded insufficient_balance"),
    _kind(
        "model",
        _MONEY,
        status=_REQUEST_STATUSES,
        text=r"credit balance is too low|insufficient (credit|balance|fund|quota)",
    ),
    _kind(
        "model",
        _MONEY,
        status=_REQUEST_STATUSES,
        text=r"(reached|exceeded) (its|your) (monthly|hard|spending)|budget has been exceeded",
    ),
    _kind(
        "model",
        _MONEY,
        status=_REQUEST_STATUSES,
        text=r"account .*(is suspended|is not active)|used all available credits",
    ),
    _kind("model", _MONEY, status="429", text=r"perday|per-day|per day|limit: 0\b"),
    # Who asks. Some say so by 400.
    _kind("model", _KEY, status="401", quoted=False),
    _kind("model", _KEY, words="invalid_api_key api_key_invalid authentication_error unauthenticated", quoted=False),
    _kind("model", _KEY, words="expiredtokenexception unrecognizedclientexception", quoted=False),
    _kind(
        "model",
        _KEY,
        status=_REQUEST_STATUSES,
        text=r"(incorrect|invalid) api.?key|api.?key (not valid|is invalid|expired)",
        quoted=False,
    ),
    # What is asked.
    _kind(
        "model",
        _NO_TOOLS,
        status=_REQUEST_STATUSES,
        text=r"does not support (tools|functions?\b|tool use|tool call|function call)",
    ),
    _kind(
        "model",
        _NO_TOOLS,
        status=_REQUEST_STATUSES,
        text=r"no endpoints found that support tool use|tools? (is|are) not supported",
    ),
    _kind("model", _PARSER, text=r"--enable-auto-tool-choice|tool-call-parser"),
    _kind("model", _JINJA, text=r"requires --jinja|--jinja flag"),
    _kind("model", _NAME, words="model_not_found deploymentnotfound invalid_model model_not_available"),
    _kind("model", _NAME, words="model_not_supported model_not_exist unsupported_model"),
    _kind("model", _NAME, status="404", text=r"^model: "),
    _kind("model", _NAME, status=_REQUEST_STATUSES, text=r"\bmodel\b.{0,200}(not exist|not found)"),
    _kind(
        "model",
        _NAME,
        status=_REQUEST_STATUSES,
        text=r"is not a valid model|invalid model|unable to access model|no models? loaded|^server is pinned to ",
    ),
    _kind("model", _PLACE, text=r"unexpected endpoint or method"),
    _kind("model", _RIGHTS, words="unsupported_country_region_territory permission_error permission_denied"),
    _kind("model", _RIGHTS, text=r"user location is not supported"),
    _kind("model", _RIGHTS, status="403"),
    _kind("model", _PLACE, status="404 405 410"),
    _kind("model", _PROXY, status="407"),
    _kind("model", _CERTIFICATE, words="untrusted_certificate"),
    # What may be different the next time.
    _kind("throttled", _BUSY, status="429"),
    _kind("throttled", _BUSY, words="rate_limit_exceeded rate_limit_error too_many_requests throttlingexception"),
    _kind("throttled", _BUSY, words="resource_exhausted overloaded_error engine_overloaded queue_exceeded"),
    _kind("throttled", _BUSY, status="503 529", text=r"overloaded|too many requests|server busy|maximum pending"),
    _kind("again", _BROKEN, status="408 409 423 424 425 500-599"),
    _kind("case", _REFUSED, status="400-499"),
    _kind("again", _BROKEN),
)


_SHOWN = 300
_TOKENS = re.compile(r"(?i)\b(bearer\s+|sk-|gsk_|xai-|AIza)[\w*.~+/=-]{4,}")
_SHORTEST = 4
"""A shorter secret would be found in ordinary words."""


@dataclass(frozen=True, slots=True)
class ProviderFailure:
    """What a provider, a server, or the way to it said instead of an answer."""

    text: str
    status: int | None = None
    words: frozenset[str] = frozenset()
    """Codes, types and reasons, in lower case."""
    generation: str = ""
    """What the model had written, where that is told."""
    retry_after: float | None = None

    @property
    def shape(self) -> FailureKind:
        """The row of the table that speaks of it; the last one fits everything."""
        return next(shape for shape in FAILURE_KINDS if shape.fits(self.status, self.words, self.text))


@dataclass(frozen=True, slots=True)
class Redactor:
    """Says what happened to a model, without what nobody may read."""

    model: str
    secrets: tuple[str, ...] = ()
    key: str = "that holds it"
    """The variable with the key."""

    def say(self, *parts: str) -> str:
        """Join the parts that say anything, in one line of bearable length."""
        told = ": ".join(part for part in (self.hidden(part) for part in parts) if part)
        return f"{self.model}: {told}"

    def hidden(self, text: str) -> str:
        """Take secrets, line breaks and what is too much out of a text."""
        line = self.cleared(text)
        return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"

    def cleared(self, text: str) -> str:
        """Take secrets and line breaks out of a text that is bearable already."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            text = text.replace(secret, "…")
        return " ".join(_TOKENS.sub("…", text).split())


def long_secrets(values: Iterable[str]) -> tuple[str, ...]:
    """The values that are secrets in earnest: long enough not to occur by chance."""
    return tuple({value for value in values if len(value) >= _SHORTEST})


def reply_or_raise(failure: ProviderFailure, teller: Redactor) -> Reply:
    """Turn a failure into the reply that it is, if the model itself failed, or raise whose fault it is.

    Raises ModelUnavailable, CaseRefused or Unanswered.
    """
    shape = failure.shape
    advice = shape.advice.format(key=teller.key)
    status = f"HTTP {failure.status}" if failure.status and failure.status != 200 else ""
    said = failure.text if shape.quoted else ""
    match shape.blame:
        case "malformed":
            reason = teller.hidden(f"{advice}: {said}" if said else advice)
            return Reply(text=failure.generation, malformed=f"{reason[:1].upper()}{reason[1:]}", finish="unknown")
        case "length":
            return Reply(text=failure.generation, finish="length")
        case "model":
            raise ModelUnavailable(teller.say(advice, status, said))
        case "case":
            raise CaseRefused(teller.say(advice, status, said))
        case blame:
            told = teller.say(advice if failure.status else "", status, said)
            raise Unanswered(told, retry_after=failure.retry_after, throttled=blame == "throttled")


_CODE_KEYS = ("code", "type", "status", "error_type", "reason", "__type")
_NESTED_KEYS = ("error", "choices", "innererror", "details", "metadata", "errors", "message", "detail")
"""Where more of it may lie."""
_TEXT_KEYS = ("message", "detail", "msg", "error", "raw", "error_message", "title")
_DEEPEST = 6
_LONGEST = 4000
"""Characters of a text that are looked at."""


def read_failure(
    status: int | None, body: Json, headers: Mapping[str, str], now: datetime | None = None
) -> ProviderFailure:
    """Read a body that is no answer. `headers` are by names in lower case; `now` is for dates in them."""
    parts = list(_objects(body))
    text = " ".join(dict.fromkeys(_texts(parts))) or (body if isinstance(body, str) else "")
    status = _status(status, parts)
    waits = (_wait_in_headers(headers, now or datetime.now(UTC)), _wait_in_body(parts))
    return ProviderFailure(
        text=(_without_html(text) or _phrase(status))[:_LONGEST],
        status=status,
        words=frozenset(_words(parts)),
        generation=next((said for part in parts if isinstance(said := part.get("failed_generation"), str)), ""),
        retry_after=next((wait for wait in waits if wait is not None), None),
    )


def _objects(value: Json, depth: int = 0) -> Iterator[Mapping[str, Json]]:
    """The body and the objects in it that speak of the failure, from the outside in."""
    if isinstance(value, Mapping) and depth < _DEEPEST:
        yield value
        for key in _NESTED_KEYS:
            yield from _objects(value.get(key), depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, str) and depth < _DEEPEST:
        for item in value[:10]:
            yield from _objects(item, depth + 1)


def _texts(parts: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    for part in parts:
        for key in _TEXT_KEYS:
            if isinstance(said := part.get(key), str) and said.strip():
                yield said.strip()


def _words(parts: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    for part in parts:
        for key in _CODE_KEYS:
            if isinstance(word := part.get(key), str):
                yield word.lower()


def _status(status: int | None, parts: Sequence[Mapping[str, Json]]) -> int | None:
    """What the body says where the head says that all is well."""
    if status is not None and status >= 400:
        return status
    codes = (part.get(key) for part in parts for key in ("code", "status", "status_code"))
    return next((code for code in codes if isinstance(code, int) and 400 <= code <= 599), status)


def _without_html(text: str) -> str:
    """A web page says little; its title says most of it."""
    if not text.lstrip().startswith("<"):
        return text
    title = re.search(r"(?is)<title>(.{1,200}?)</title>", text[:10_000])
    return f"a web page, {title[1].strip()!r}" if title else "a web page"


def _phrase(status: int | None) -> str:
    return next((known.phrase for known in HTTPStatus if known == status and known >= 400), "")


def _wait_in_headers(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait, of `retry-after-ms` and `retry-after`: milliseconds, seconds, or a date."""
    if (seconds := _seconds(headers.get("retry-after-ms", ""), "ms")) is not None:
        return seconds
    said = headers.get("retry-after", "")
    if (seconds := _seconds(said, "s")) is not None:
        return seconds
    try:
        then = parsedate_to_datetime(said)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - now).total_seconds())


def _wait_in_body(parts: Sequence[Mapping[str, Json]]) -> float | None:
    """Seconds to wait, where the body says so, as Google's does: `"retryDelay": "12s"`."""
    delays = (part.get("retryDelay") for part in parts)
    return next((_seconds(delay.removesuffix("s"), "s") for delay in delays if isinstance(delay, str)), None)


def _seconds(text: str, unit: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number / 1000 if unit == "ms" else number) if math.isfinite(number) else None


def parse_body(content: bytes) -> Json:
    """The JSON of a body. Raises ValueError, in words, for any other."""
    try:
        return cast("Json", json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant))
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"JSON that is cut off or broken at character {error.pos + 1} of {len(error.doc)}") from None
    except ValueError:
        raise ValueError("JSON with a number in it that is none, or too long") from None
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None


def _no_constant(name: str) -> Json:
    raise ValueError(name)

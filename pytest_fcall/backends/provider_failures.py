"""Failures of providers: the reading of an error body, whose fault it is, and the exception or Reply that follows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from pytest_fcall.backends.failure_kinds import FAILURE_KINDS, FailureKind
from pytest_fcall.core import CaseRefused, Json, ModelUnavailable, Reply, Unanswered

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

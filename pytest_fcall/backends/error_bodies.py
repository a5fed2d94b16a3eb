"""Finds what a body says of a failure, in whichever of the known shapes it says it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import cast

from pytest_fcall.backends.errors import Failure
from pytest_fcall.core import Json

_CODES = ("code", "type", "status", "error_type", "reason", "__type")
_WITHIN = ("error", "choices", "innererror", "details", "metadata", "errors", "message", "detail")
"""Where more of it may lie."""
_TEXTS = ("message", "detail", "msg", "error", "raw", "error_message", "title")
_DEEPEST = 6
_LONGEST = 4000
"""Characters of a text that are looked at."""


def read_failure(status: int | None, body: Json, headers: Mapping[str, str], now: datetime | None = None) -> Failure:
    """Read a body that is no answer. `headers` are by names in lower case; `now` is for dates in them."""
    parts = list(_objects(body))
    text = " ".join(dict.fromkeys(_texts(parts))) or (body if isinstance(body, str) else "")
    status = _status(status, parts)
    waits = (_wait(headers, now or datetime.now(UTC)), _told_wait(parts))
    return Failure(
        text=(_plain(text) or _phrase(status))[:_LONGEST],
        status=status,
        words=frozenset(_words(parts)),
        generation=next((said for part in parts if isinstance(said := part.get("failed_generation"), str)), ""),
        retry_after=next((wait for wait in waits if wait is not None), None),
    )


def _objects(value: Json, depth: int = 0) -> Iterator[Mapping[str, Json]]:
    """The body and the objects in it that speak of the failure, from the outside in."""
    if isinstance(value, Mapping) and depth < _DEEPEST:
        yield value
        for key in _WITHIN:
            yield from _objects(value.get(key), depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, str) and depth < _DEEPEST:
        for item in value[:10]:
            yield from _objects(item, depth + 1)


def _texts(parts: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    for part in parts:
        for key in _TEXTS:
            if isinstance(said := part.get(key), str) and said.strip():
                yield said.strip()


def _words(parts: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    for part in parts:
        for key in _CODES:
            if isinstance(word := part.get(key), str):
                yield word.lower()


def _status(status: int | None, parts: Sequence[Mapping[str, Json]]) -> int | None:
    """What the body says where the head says that all is well."""
    if status is not None and status >= 400:
        return status
    codes = (part.get(key) for part in parts for key in ("code", "status", "status_code"))
    return next((code for code in codes if isinstance(code, int) and 400 <= code <= 599), status)


def _plain(text: str) -> str:
    """A web page says little; its title says most of it."""
    if not text.lstrip().startswith("<"):
        return text
    title = re.search(r"(?is)<title>(.{1,200}?)</title>", text[:10_000])
    return f"a web page, {title[1].strip()!r}" if title else "a web page"


def _phrase(status: int | None) -> str:
    return next((known.phrase for known in HTTPStatus if known == status and known >= 400), "")


def _wait(headers: Mapping[str, str], now: datetime) -> float | None:
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


def _told_wait(parts: Sequence[Mapping[str, Json]]) -> float | None:
    """Seconds to wait, where the body says so, as Google's does: `"retryDelay": "12s"`."""
    delays = (part.get("retryDelay") for part in parts)
    return next((_seconds(delay.removesuffix("s"), "s") for delay in delays if isinstance(delay, str)), None)


def _seconds(text: str, unit: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number / 1000 if unit == "ms" else number) if math.isfinite(number) else None


def parsed(content: bytes) -> Json:
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

"""Whether a server is ready, and what it says of itself."""

from __future__ import annotations

import json
from contextlib import closing, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

_PATIENCE = 5.0
_LONGEST = 65_536
_UNKNOWN = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED)


def is_ready(url: str, health: str | None = None) -> bool:
    """Whether models can be asked at `url`. Most servers say so at /health; others list models as soon as they can.

    With `health`, that path alone is asked, and any answer but an error will do; many an app has no page at `/`.
    """
    if health is not None:
        status, _ = _get(url, health)
        return status is not None and (status < HTTPStatus.BAD_REQUEST or (health == "/" and status in _UNKNOWN))
    status, _ = _get(url, "/health")
    if status in _UNKNOWN:
        status, _ = _get(url, f"{urlsplit(url).path.rstrip('/')}/models")
        return status is not None and status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in _UNKNOWN
    return status is not None and status < HTTPStatus.MULTIPLE_CHOICES


def answer_at(url: str, health: str) -> str:
    """What a server that is not ready says, in words."""
    status, _ = _get(url, health)
    return f"nobody answers at {health}" if status is None else f"{health} answers HTTP {status}"


def version(url: str) -> str | None:
    """What the server says at /version, as vLLM does."""
    _, body = _get(url, "/version")
    with suppress(ValueError, RecursionError):
        told = json.loads(body)
        if isinstance(told, dict) and isinstance(told.get("version"), str):
            return str(told["version"])
    return None


def _get(url: str, path: str) -> tuple[int | None, bytes]:
    """The status and the body, or nothing where there is no answer. No proxy is asked: it is this machine."""
    parts = urlsplit(url)
    with closing(HTTPConnection(parts.hostname or "", parts.port, timeout=_PATIENCE)) as connection:
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read(_LONGEST)
        except (OSError, HTTPException):
            return None, b""

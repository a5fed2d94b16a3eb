"""What goes wrong between a client and a model, by name."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.servers.answer import Answer
from tests.servers.completions import chat

_WHOLE = chat("The sky over Oslo is blue today.")


def provider_error(
    status: int, message: str = "Something went wrong.", *, headers: Mapping[str, str] | None = None, **fields: Any
) -> Answer:
    """An error in OpenAI's shape; `fields` are those beside its message, such as `code` and `type`."""
    error = {"message": message, "type": None, "param": None, "code": None} | fields
    return Answer(json.dumps({"error": error}).encode(), status, headers=headers or {})


def throttled(
    after: float | None = None, *, milliseconds: float | None = None, date: str | None = None, status: int = 429
) -> Answer:
    """Too many requests: come again after so many seconds, or milliseconds, or at that date."""
    said = {"retry-after": after if date is None else date, "retry-after-ms": milliseconds}
    return provider_error(
        status,
        "Rate limit reached for requests",
        headers={name: str(value) for name, value in said.items() if value is not None},
        type="requests",
        code="rate_limit_exceeded",
    )


def broken(status: int = 500) -> Answer:
    """The server failed, and says so in plain text, as proxies do."""
    return Answer(b"upstream connect error", status, "text/plain")


def reset() -> Answer:
    """The connection breaks before a word is said."""
    return Answer(head=False, ending="reset")


def reset_mid_body() -> Answer:
    """The connection breaks in the middle of a good body."""
    return replace(_WHOLE, sent=40, ending="reset")


def cut_off(*, chunked: bool = False) -> Answer:
    """The connection is closed politely in the middle of a good body."""
    return replace(_WHOLE, sent=40, ending="close", chunked=chunked)


def truncated_json() -> Answer:
    """The body is as long as the head says, and ends in the middle of its JSON."""
    return replace(_WHOLE, body=_WHOLE.body[:60])


def web_page(status: int = 200) -> Answer:
    """A proxy's page where JSON should be."""
    return Answer(b"<html><body>Please log in</body></html>", status, "text/html; charset=utf-8")


def dripping(seconds: float) -> Answer:
    """A good body, byte by byte."""
    return replace(_WHOLE, drip=seconds)


def silent(*, sent: int | None = None) -> Answer:
    """Nothing is said, or the head and `sent` bytes of a good body, and then nothing more."""
    return replace(_WHOLE, head=sent is not None, sent=sent or 0, ending="hang")


def huge(size: int = 20_000_000) -> Answer:
    """A good answer with a text of `size` characters."""
    return chat("x" * size)


def invalid_utf8() -> Answer:
    """JSON but for one byte that no UTF-8 has."""
    return replace(_WHOLE, body=_WHOLE.body.replace(b"Oslo", b"Osl\xff"))


def closed_unannounced() -> Answer:
    """A good answer, after which the connection is closed though the head promised to keep it."""
    return replace(_WHOLE, ending="close")


def dropped_when_reused() -> Answer:
    """A good answer, after which the connection breaks as soon as it is used again."""
    return replace(_WHOLE, ending="drop")


def not_openai(data: Any, status: int = 200) -> Answer:
    """JSON that is none of OpenAI's shapes."""
    return Answer(json.dumps(data).encode(), status)


def refused_connection() -> str:
    """The address of a server that nobody runs."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        return f"http://127.0.0.1:{unused.getsockname()[1]}/v1"

"""The receiver of spans: OTLP over HTTP, at an address of the proxy on loopback."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Final

from aiohttp import web

from pytest_fcall.backends.spans.inbox import SpanInbox
from pytest_fcall.backends.spans.otlp import MOST_BYTES, OtlpError, spans_in_json, spans_in_protobuf

_PROTOBUF, _JSON = "application/x-protobuf", "application/json"
_LARGE: Final = 2**18
"""Bytes above which a message is read in a thread, so that other requests do not wait."""
_READERS: Final = {_PROTOBUF: spans_in_protobuf, _JSON: spans_in_json}


async def receive_spans(
    inbox: SpanInbox, request: web.BaseRequest, sent_to: str, *, may_be_others: bool
) -> web.Response:
    """Take the spans of one request, whose body has not been read yet.

    `sent_to` is the token of the address. Spans of no known case are noted unless they may be those of another run.
    """
    if request.method != "POST":
        return web.Response(status=HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": "POST"})
    read = _READERS.get(request.content_type)
    if read is None:
        return _refused(inbox, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"{_PROTOBUF} or {_JSON} is wanted")
    try:
        content = await _body(request)
    except _TooLarge:
        return _refused(inbox, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"it has more than {MOST_BYTES:,} bytes unpacked")
    except (web.RequestPayloadError, ConnectionError):
        return _refused(inbox, HTTPStatus.BAD_REQUEST, "its body is broken off, or cannot be unpacked")
    try:
        large = len(content) > _LARGE
        spans = await asyncio.get_running_loop().run_in_executor(None, read, content) if large else read(content)
    except OtlpError as error:
        return _refused(inbox, HTTPStatus.BAD_REQUEST, str(error))
    inbox.receive(spans, sent_to, may_be_others=may_be_others)
    # The answer to an export in which nothing was refused is an empty message.
    return web.Response(body=b"{}" if request.content_type == _JSON else b"", content_type=request.content_type)


class _TooLarge(Exception):
    """A body has more bytes than are read."""


async def _body(request: web.BaseRequest) -> bytes:
    """The body, which aiohttp unpacks piece by piece. Raises _TooLarge, and what aiohttp raises for a damaged one."""
    pieces: list[bytes] = []
    size = 0
    async for piece in request.content.iter_any():
        size += len(piece)
        if size > MOST_BYTES:
            raise _TooLarge
        pieces.append(piece)
    return b"".join(pieces)


def _refused(inbox: SpanInbox, status: HTTPStatus, why: str) -> web.Response:
    inbox.note_unreadable(why)
    response = web.Response(status=status, text=f"pytest-fcall: spans are not read: {why}")
    response.force_close()  # what is left of the body is not read
    return response

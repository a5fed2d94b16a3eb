"""HTTP answers, within bounds: no answer takes all memory or the time of others, and none leads to another server."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from aiohttp import ClientResponse
    from yarl import URL


ACCEPTED_ENCODINGS: Final = "gzip, deflate"
"""Encodings that servers may compress with. That of others is not bounded by all versions of their libraries."""
LONGEST_BODY: Final = 2**25
"""Bytes, before and after decompression: a hundred times what the longest answers of models have."""
LONGEST_FILE: Final = 2**28
"""Bytes of an answer that is no model's, such as a sound, an image or a file."""
MOST_VALUES: Final = 3_000_000
"""Values in the JSON of a body, of which each takes a hundred bytes of memory or more."""
_PIECE: Final = 2**16
"""Bytes that are decompressed at a time. Then others have their turn."""
_MOST_MEMBERS: Final = 100
"""Members of a gzip body. Each costs as much time as the bytes behind it."""
_WBITS: Final[Mapping[str, int]] = MappingProxyType({"gzip": 31, "x-gzip": 31, "deflate": 15})
_BARE_DEFLATE: Final = -15


class UnreadableBody(Exception):
    """An answer that is not read to its end. The text says why, without a subject."""


class TooLong(UnreadableBody):
    """An answer that is longer than any model's."""

    def __init__(self, longest: float) -> None:
        super().__init__(f"has more than {longest:,.0f} bytes")


def pieces_of(response: ClientResponse, longest: float) -> AsyncIterator[bytes]:
    """The pieces of a body as they arrive, decompressed, of a session that does not decompress by itself.

    Raises UnreadableBody, and TooLong as soon as there are more than so many bytes, compressed or not.
    """
    return decompress_pieces(response.content.iter_any(), response.headers.get("Content-Encoding", ""), longest)


async def decompress_pieces(pieces: AsyncIterable[bytes], encoding: str, longest: float) -> AsyncIterator[bytes]:
    """The pieces, decompressed. Raises what `pieces_of` does."""
    from asyncio import sleep

    decompressor = _decompressor(encoding)
    arrived = length = 0
    async for raw in pieces:
        arrived += len(raw)
        if arrived > longest:
            raise TooLong(longest)
        if decompressor is None:
            yield raw
            continue
        for piece in decompressor.pieces(raw):
            length += len(piece)
            if length > longest:
                raise TooLong(longest)
            yield piece
            if len(piece) == _PIECE:
                await sleep(0)


async def whole_body(response: ClientResponse, longest: float | None = None) -> bytes:
    """The whole body, at most `longest` or else LONGEST_BODY bytes. Raises UnreadableBody."""
    body = bytearray()
    async for piece in pieces_of(response, LONGEST_BODY if longest is None else longest):
        body += piece
    return bytes(body)


def _decompressor(encoding: str) -> _Decompressor | None:
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return None
    if name not in _WBITS:
        raise UnreadableBody(f"is compressed with {encoding:.20}, which is not read")
    return _Decompressor(_WBITS[name])


class _Decompressor:
    """Decompresses a body piece by piece. A body that breaks off gives what it has: its reader finds out."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._members = 1
        self._begun = False
        self._stream = zlib.decompressobj(wbits)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """The decompressed pieces of what has arrived. Raises UnreadableBody."""
        if not self._begun and data:
            self._begun = True
            if self._wbits == _WBITS["deflate"] and data[0] & 0xF != zlib.DEFLATED:  # some servers leave the header out
                self._stream = zlib.decompressobj(_BARE_DEFLATE)
        try:
            while True:
                piece = self._stream.decompress(data, _PIECE)
                if piece:
                    yield piece
                data = self._stream.unconsumed_tail
                if self._stream.eof and self._stream.unused_data:
                    data = self._next_member()
                elif not data and len(piece) < _PIECE:
                    return
        except zlib.error:
            raise UnreadableBody("is compressed and cannot be decompressed") from None

    def _next_member(self) -> bytes:
        rest = self._stream.unused_data
        self._members += 1
        if self._members > _MOST_MEMBERS:
            raise UnreadableBody(f"is compressed in more than {_MOST_MEMBERS} parts")
        self._stream = zlib.decompressobj(self._wbits)
        return rest


def parse_json(text: str) -> Json:
    """The value of JSON without NaN and infinities. Raises ValueError with what the text is instead."""
    try:
        return cast("Json", json.loads(text, parse_constant=_refuse_constant))
    except json.JSONDecodeError as error:
        if error.pos == 0:
            raise ValueError("not JSON") from None
        if error.pos >= len(error.doc.rstrip()):
            raise ValueError(f"JSON that is cut off after character {error.pos}") from None
        raise ValueError(f"JSON that is cut off or broken at character {error.pos + 1} of {len(error.doc)}") from None
    except ValueError:
        raise ValueError("JSON with an invalid or too long number") from None
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None


def parse_body(content: bytes) -> Json:
    """The JSON of a body. Raises ValueError with what the body is instead."""
    if holds_too_many_values(content):
        raise ValueError(f"JSON with more than {MOST_VALUES:,} values")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start + 1}") from None
    return parse_json(text)


def body_fault(body: bytes, fault: str) -> str:
    """The message for the body of a model's server that `parse_body` cannot read, since it is `fault`."""
    start = body.lstrip()[:10]
    if not start:
        return "the server's answer is empty"
    if start.startswith(b"<"):
        return "the server answered with a web page; `base_url` usually ends in /v1, or is there a proxy in between?"
    if start.startswith((b"data:", b"event:")):
        return "the server streams its answer, though the request did not ask for a stream"
    return f"the server's answer is {fault}"


def holds_too_many_values(content: bytes) -> bool:
    """Whether JSON may have more values than an answer needs. What separates values counts in strings, too."""
    return len(content) > MOST_VALUES and sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES


def _refuse_constant(name: str) -> Json:
    raise ValueError(name)


MOST_REDIRECTS = 20
"""As many as the openai library follows."""
WITHOUT_BODY = frozenset({HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.FOUND, HTTPStatus.SEE_OTHER})
"""Redirects that make a GET of a POST, as browsers and the openai library do."""
REDIRECTS = WITHOUT_BODY | {HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT}
_SHOWN = 200


class RedirectError(Exception):
    """A redirect that is not followed. The text says where it leads."""


def redirect_target(url: URL, location: str) -> URL:
    """The address to which `location` in an answer of `url` leads. Raises RedirectError where that is another server.

    Scheme, host and port make a server.
    """
    from yarl import URL

    try:
        target = url.join(URL(location)).with_fragment(None)
        is_valid = target.scheme in ("http", "https") and bool(target.host)
        elsewhere = is_valid and target.origin() != url.origin()
    except ValueError:
        is_valid = elsewhere = False
    if not is_valid:
        raise RedirectError("a redirect has no valid address")
    if elsewhere:
        raise RedirectError(f"a redirect leads to {_shown(target)}, which is another server, so nothing was sent there")
    return target.with_user(None)


def _shown(url: URL) -> str:
    """The address without name, password and query, which may be secret."""
    text = str(url.with_user(None).with_query(None))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"

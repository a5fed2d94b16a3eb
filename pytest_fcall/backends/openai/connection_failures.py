"""Failures of the connection to a server."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from http import HTTPStatus

import aiohttp
from aiohttp.http_exceptions import ContentEncodingError

from pytest_fcall.backends.failure_kinds import NO_CONNECTION
from pytest_fcall.backends.provider_failures import ProviderFailure

CONNECT_SECONDS = 15.0
"""The time limit for a connection; the answer has that of the request."""
BROKEN_COMPRESSION = ProviderFailure("the answer is compressed and cannot be decompressed")


def connection_failure(error: BaseException) -> ProviderFailure:
    """Describe why there is no whole answer. Libraries wrap each other's errors; the innermost known one counts."""
    match error:
        case aiohttp.ClientProxyConnectionError():
            reason = "" if isinstance(error.os_error, ConnectionRefusedError) else error.os_error.strerror
            return _no_connection(f"no connection to the proxy: {reason or 'it refuses'}")
        case aiohttp.ClientHttpProxyError(status=HTTPStatus.PROXY_AUTHENTICATION_REQUIRED):
            return ProviderFailure(error.message, error.status)
        case aiohttp.ClientHttpProxyError():
            return ProviderFailure(f"the proxy does not connect to the server (HTTP {error.status})")
    return _innermost_failure(error) or ProviderFailure(f"the connection failed ({type(error).__name__})")


def _innermost_failure(error: BaseException) -> ProviderFailure | None:
    for cause in reversed([*_causes(error)]):
        match cause:
            case ssl.SSLCertVerificationError():
                return ProviderFailure(cause.verify_message, codes=frozenset({"untrusted_certificate"}))
            case ContentEncodingError():
                return BROKEN_COMPRESSION
            case aiohttp.ClientPayloadError():
                return ProviderFailure("the answer broke off in the middle", billable=True)
            case aiohttp.ServerDisconnectedError() | ConnectionResetError() | BrokenPipeError():
                return ProviderFailure("the server closed the connection before it answered")
            case ConnectionRefusedError():
                return _no_connection("the connection was refused: is the server running?")
            case TimeoutError():
                return _no_connection(f"no connection within {CONNECT_SECONDS:g} s")
            case aiohttp.ClientConnectorError():
                return _no_connection(f"no connection: {cause.os_error.strerror or 'the server was not found'}")
            case aiohttp.ClientResponseError():
                return ProviderFailure("the answer is not HTTP")
    return None


def _no_connection(text: str) -> ProviderFailure:
    return ProviderFailure(text, codes=frozenset({NO_CONNECTION}))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and what it was raised from, from the outside in."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__

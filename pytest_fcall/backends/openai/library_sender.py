"""Requests by the openai library, which knows its way through proxies and redirects."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

import aiohttp
import httpx2
import openai

from pytest_fcall.backends.openai.connection_failures import (
    BROKEN_COMPRESSION,
    CONNECT_SECONDS,
    causes,
    connection_failure,
)
from pytest_fcall.backends.openai.server_answer import ServerAnswer
from pytest_fcall.backends.provider_failures import ProviderFailure

_LOG = logging.getLogger("httpx2")
"""Logs each request of the openai library."""


class LibrarySender:
    """Sends requests of one event loop to one server, or to where that and the environment's proxies lead."""

    def __init__(self, url: str, key: str) -> None:
        address = urlsplit(url)
        self._log_filter = _AddressFilter(address.hostname or "")
        _LOG.addFilter(self._log_filter)
        self._client = openai.AsyncOpenAI(
            api_key=key,
            base_url=address._replace(query="", fragment="").geturl(),
            default_query=dict(parse_qsl(address.query)),
            max_retries=0,
            timeout=openai.Timeout(None, connect=CONNECT_SECONDS),
            http_client=openai.DefaultAioHttpClient(),
        )

    async def send(self, path: str, body: bytes, headers: Mapping[str, str]) -> ServerAnswer | ProviderFailure:
        """Send `body` to `path`. A broken connection is returned as a failure."""
        # The library's errors hold the request with its key, so none of them leaves this function.
        try:
            response = await self._client.post(
                path,
                cast_to=httpx2.Response,
                content=body,
                options={"headers": {"Content-Type": "application/json", **headers}},
            )
        except openai.APIStatusError as error:
            response = error.response
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, aiohttp.ClientError) as error:
            if any(isinstance(cause, httpx2.DecodingError) for cause in causes(error)):
                return BROKEN_COMPRESSION
            return connection_failure(error)
        return ServerAnswer(response.status_code, response.content, response.headers)

    async def close(self) -> None:
        """Close all connections."""
        _LOG.removeFilter(self._log_filter)
        await self._client.close()


class _AddressFilter(logging.Filter):
    """Drops log records that contain the server's address, which may contain a key."""

    def __init__(self, host: str) -> None:
        super().__init__()
        self._host = host

    def filter(self, record: logging.LogRecord) -> bool:
        return self._host not in record.getMessage()

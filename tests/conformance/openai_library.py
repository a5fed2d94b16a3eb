"""Requests by the openai library, which HttpSender is held to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, urlsplit

import aiohttp
import httpx2
import openai

from pytest_fcall.backends.openai.client import BROKEN_COMPRESSION, CONNECT_SECONDS, connection_failure
from pytest_fcall.backends.openai.server_answer import ServerAnswer
from pytest_fcall.backends.provider_failures import ProviderFailure


class LibrarySender:
    """Sends requests of one event loop to one server; the library knows the headers that the environment names."""

    def __init__(self, url: str, key: str, _: Mapping[str, str]) -> None:
        address = urlsplit(url)
        self._client = openai.AsyncOpenAI(
            api_key=key,
            base_url=address._replace(query="", fragment="").geturl(),
            default_query=dict(parse_qsl(address.query)),
            max_retries=0,
            timeout=openai.Timeout(None, connect=CONNECT_SECONDS),
            http_client=openai.DefaultAioHttpClient(),
        )

    async def send(self, path: str, body: bytes, headers: Mapping[str, str]) -> ServerAnswer | ProviderFailure:
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
            if any(isinstance(cause, httpx2.DecodingError) for cause in _causes(error)):
                return BROKEN_COMPRESSION
            return connection_failure(error)
        return ServerAnswer(response.status_code, response.content, response.headers)

    async def close(self) -> None:
        await self._client.close()


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__

"""Requests over aiohttp: the same bytes as the openai library sends, for a fraction of its time."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode, urlsplit

from aiohttp import ClientError
from yarl import URL

from pytest_fcall.backends.answer_body import ACCEPTED_ENCODINGS, TooLong, UnreadableBody, whole_body
from pytest_fcall.backends.failure_kinds import LOST_BY_REDIRECT, TOO_LONG, UNUSABLE_PROXY
from pytest_fcall.backends.openai.connection_failures import connection_failure
from pytest_fcall.backends.openai.connections import Connections, UnusableProxy, joined_headers
from pytest_fcall.backends.openai.http_request import PLAIN_HEADERS, HttpRequest
from pytest_fcall.backends.openai.server_answer import ServerAnswer
from pytest_fcall.backends.provider_failures import ProviderFailure
from pytest_fcall.backends.redirects import MOST_REDIRECTS, RedirectError


class HttpSender:
    """Sends requests of one event loop to one server, also where that redirects, through the environment's proxies.

    It keeps no cookies, and sends nothing to another server.
    """

    def __init__(self, url: str, key: str, headers: Mapping[str, str]) -> None:
        address = urlsplit(url)
        query = dict(parse_qsl(address.query))
        self._base = address._replace(path=address.path.removesuffix("/"), query="", fragment="").geturl()
        self._query = f"?{urlencode(query)}" if query else ""
        ours = {**PLAIN_HEADERS, "Authorization": f"Bearer {key}", "Accept-Encoding": ACCEPTED_ENCODINGS}
        self._headers = joined_headers(ours, headers, {"Content-Type": PLAIN_HEADERS["Content-Type"]})
        self._connections = Connections(self._base)

    async def send(self, path: str, body: bytes, headers: Mapping[str, str]) -> ServerAnswer | ProviderFailure:
        """Send `body` to `path`. A broken connection is returned as a failure."""
        request = HttpRequest(URL(f"{self._base}{path}{self._query}"), joined_headers(self._headers, headers), body)
        for _ in range(MOST_REDIRECTS + 1):
            answer = await self._exchange(request)
            if isinstance(answer, ProviderFailure) or not answer.redirects:
                return answer
            try:
                request = request.redirected(answer)
            except RedirectError as error:
                return _lost(str(error))
        return _lost(f"there are more than {MOST_REDIRECTS} redirects in a row")

    async def close(self) -> None:
        """Close all connections."""
        await self._connections.close()

    async def _exchange(self, request: HttpRequest) -> ServerAnswer | ProviderFailure:
        method = "GET" if request.body is None else "POST"
        try:
            async with self._connections.exchange(method, request.url, request.headers, request.body) as response:
                content = await whole_body(response)
        except UnusableProxy as error:
            return ProviderFailure(str(error), codes=frozenset({UNUSABLE_PROXY}))
        except TooLong as error:
            return ProviderFailure(f"it {error}", codes=frozenset({TOO_LONG}))
        except UnreadableBody as error:
            return ProviderFailure(f"the answer {error}")
        except (ClientError, OSError) as error:  # it holds the key, so it does not leave this function
            return connection_failure(error)
        return ServerAnswer(response.status, content, response.headers)


def _lost(reason: str) -> ProviderFailure:
    return ProviderFailure(reason, codes=frozenset({LOST_BY_REDIRECT}))

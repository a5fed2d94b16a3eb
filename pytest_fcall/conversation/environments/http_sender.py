"""Sends HTTP requests to the allowed hosts, with aiohttp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, DummyCookieJar
from yarl import URL

from pytest_fcall.conversation.environments.context import HostRefused, Hosts
from pytest_fcall.conversation.execution.limits import CallLimits
from pytest_fcall.core.backend import Unanswered
from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.json_data import read_json, refuse_constant
from pytest_fcall.core.values import Json
from pytest_fcall.schema.errors import SchemaError

if TYPE_CHECKING:
    from pytest_fcall.conversation.environments.http import HttpRequest

_MOST_REDIRECTS: Final = 10
_KEEPS_METHOD: Final = frozenset({307, 308})
_REDIRECTS: Final = frozenset({301, 302, 303}) | _KEEPS_METHOD
_SHOWN: Final = 2_000
"""Characters shown of an answer with an error status."""


class ConversationSender:
    """Sends the requests of one conversation, without cookies and without the proxies of the environment."""

    def __init__(self, hosts: Hosts, limits: CallLimits) -> None:
        self._hosts = hosts
        self._limits = limits
        self._session = ClientSession(
            cookie_jar=DummyCookieJar(),
            timeout=ClientTimeout(total=limits.seconds),
            auto_decompress=False,
            headers={"Accept": "application/json, */*;q=0.5", "Accept-Encoding": "identity"},
        )

    async def send(self, request: HttpRequest) -> CallResult:
        """Send a request and follow redirects to allowed hosts. Raises core.Unanswered where no server answers."""
        try:
            return await self._follow(request)
        except (HostRefused, SchemaError) as error:
            return CallResult(error=str(error))
        except TimeoutError:
            return CallResult(error=f"it took longer than {self._limits.seconds:g} s")
        except ValueError as error:  # aiohttp refuses the address or a header
            return CallResult(error=f"the request cannot be sent: {error}")
        except (ClientError, OSError) as error:
            raise Unanswered(f"{request.method} {request.url.partition('?')[0]} failed: {error}") from error

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def _follow(self, request: HttpRequest) -> CallResult:
        method, url, body, headers = request.method, URL(request.url), request.body, dict(request.headers)
        for _ in range(_MOST_REDIRECTS):
            self._hosts.check(url)
            ours = self._hosts.headers_for(url)
            data = None if body is None else body.encode("utf-8", "replace")
            async with self._session.request(
                method, url, data=data, headers=_joined(headers, ours), allow_redirects=False
            ) as response:
                location = response.headers.get("Location")
                if response.status not in _REDIRECTS or location is None:
                    return await self._read(response, ours)
            url = url.join(URL(location))
            if response.status not in _KEEPS_METHOD and method != "HEAD":
                method, body = "GET", None
                headers.pop("Content-Type", None)
        return CallResult(error=f"more than {_MOST_REDIRECTS} redirects")

    async def _read(self, response: ClientResponse, ours: Mapping[str, str]) -> CallResult:
        limit = self._limits.result
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            return CallResult(error="the server sent a compressed answer, which is not supported")
        content = bytearray()
        async for piece in response.content.iter_chunked(1 << 16):
            content += piece
            if len(content) > limit:
                return CallResult(error=f"the answer has more than {limit:,} bytes")
        text = self._hosts.without_secrets(_decoded(bytes(content), response), ours)
        if response.status >= 400:
            return CallResult(error=f"HTTP {response.status} {response.reason}: {text[:_SHOWN]}".rstrip(": "))
        return CallResult(_value(text))


def _joined(headers: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    """All headers; ours replace those of the call."""
    names = {name.lower() for name in ours}
    return {**{name: value for name, value in headers.items() if name.lower() not in names}, **ours}


def _decoded(content: bytes, response: ClientResponse) -> str:
    try:
        return content.decode(response.charset or "utf-8", "replace")
    except LookupError:
        return content.decode("utf-8", "replace")


def _value(text: str) -> Json:
    """The JSON value of an answer, its text where it is not JSON, null where it is empty."""
    if not text.strip():
        return None
    try:
        return read_json(text, refuse_constant)
    except ValueError:
        return text

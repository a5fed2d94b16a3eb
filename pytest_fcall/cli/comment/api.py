"""Requests to the API of a host of repositories: bounded, and to nobody but the server that was named."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.request import getproxies, proxy_bypass

from pytest_fcall.backends.http_answers import (
    ACCEPTED_ENCODINGS,
    REDIRECTS,
    RedirectError,
    UnreadableBody,
    parse_body,
    redirect_target,
    whole_body,
)
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp import ClientResponse, ClientSession
    from yarl import URL

REQUEST_SECONDS: Final = 30.0
"""The time limit of one request with its answer."""
LONGEST_WAIT: Final = 60.0
"""The longest wait that a server may ask for before it is asked again."""
_MOST_REDIRECTS: Final = 5
_SHOWN: Final = 300


class UnusableEnvironment(Exception):
    """The environment cannot be used. The text names the variable."""


class ApiError(Exception):
    """The server did not do what it was asked for. The text says what was asked, and what it answered."""


class Forbidden(ApiError):
    """The token may not do it."""


class Unavailable(ApiError):
    """The server may do it later."""

    def __init__(self, text: str, wait: float | None = None) -> None:
        super().__init__(text)
        self.wait = wait
        """The seconds after which the server wants to be asked again, where it says so."""


class HostApi:
    """The API of a host."""

    def __init__(self, session: ClientSession, host: str) -> None:
        self._session = session
        self._host = host

    async def ask(self, task: str, method: str, address: str, data: Json = None) -> Json:
        """The answer to a request; `task` says in words what it is for. Raises ApiError, and UnusableEnvironment."""
        from aiohttp import ClientError
        from yarl import URL

        refused = f"{self._host} does not {task}"
        try:
            status, headers, content = await self._answer(method, URL(address), data)
        except RedirectError as error:
            raise ApiError(f"{refused}: {error}") from None
        except UnreadableBody as error:
            raise ApiError(f"{refused}: its answer {error}") from None
        except TimeoutError:
            raise Unavailable(f"{refused}: there is no answer within {REQUEST_SECONDS:g} s") from None
        except (ClientError, OSError) as error:
            reason = str(error)[:_SHOWN] or type(error).__name__
            raise Unavailable(f"{refused}: there is no connection ({reason})") from None
        if status >= 400:
            raise _error(refused, status, headers, content)
        try:
            return parse_body(content) if content.strip() else None
        except ValueError as error:
            raise ApiError(f"{refused}: its answer is {error}") from None

    async def _answer(self, method: str, url: URL, data: Json) -> tuple[int, Mapping[str, str], bytes]:
        for _ in range(_MOST_REDIRECTS):
            async with self._request(method, url, data) as response:
                location = response.headers.get("Location")
                if response.status not in REDIRECTS or location is None:
                    return response.status, response.headers, await whole_body(response)
            url = redirect_target(url, location)
        raise RedirectError(f"more than {_MOST_REDIRECTS} redirects")

    @asynccontextmanager
    async def _request(self, method: str, url: URL, data: Json) -> AsyncIterator[ClientResponse]:
        async with (
            asyncio.timeout(REQUEST_SECONDS),
            self._session.request(method, url, json=data, allow_redirects=False, proxy=_proxy_for(url)) as response,
        ):
            yield response


@asynccontextmanager
async def open_api(host: str, headers: Mapping[str, str]) -> AsyncIterator[HostApi]:
    """The API of a host; `headers` hold the token.

    The proxies of the environment are used, and its passwords for servers (`.netrc`) are not: they would take the place
    of the token.
    """
    from aiohttp import ClientSession, DummyCookieJar

    own = {"User-Agent": "pytest-fcall", "Accept-Encoding": ACCEPTED_ENCODINGS, **headers}
    async with ClientSession(headers=own, cookie_jar=DummyCookieJar(), auto_decompress=False) as session:
        yield HostApi(session, host)


def api_address(text: str, variable: str) -> str:
    """The address of an API that a variable holds. Raises UnusableEnvironment."""
    from yarl import URL

    try:
        address = URL(text)
        is_usable = address.scheme in ("http", "https") and bool(address.host) and not address.query_string
    except ValueError:
        is_usable = False
    if not is_usable:
        raise UnusableEnvironment(f"{variable}: must be an address such as https://api.example.com, not {text!r}")
    return text.rstrip("/")


def _proxy_for(url: URL) -> str | None:
    """The proxy that the environment names for an address. Raises UnusableEnvironment."""
    named = getproxies()
    variable = url.scheme if url.scheme in named else "all"
    if variable not in named or proxy_bypass(f"{url.host}:{url.port}"):
        return None
    address = named[variable] if "://" in named[variable] else f"http://{named[variable]}"
    if not address.startswith(("http://", "https://")):
        raise UnusableEnvironment(f"{variable.upper()}_PROXY: must be an address such as http://127.0.0.1:3128")
    return address


def _error(refused: str, status: int, headers: Mapping[str, str], content: bytes) -> ApiError:
    text = f"{refused}: HTTP {status}{_reason(content)}"
    wait = _seconds(headers.get("Retry-After", ""))
    if wait is not None:
        text += f" (it asks to wait {wait:g} s)"
    if status >= 500:
        return Unavailable(text, wait)
    if status == 429 or (status == 403 and (wait is not None or headers.get("X-RateLimit-Remaining") == "0")):
        return Unavailable(f"{text}: too many requests with this token", wait)
    if status == 403:
        return Forbidden(text)
    hints = {401: "the token is not valid", 404: "it is not there, or the token may not see it"}
    return ApiError(f"{text} ({hints[status]})" if status in hints else text)


def _reason(content: bytes) -> str:
    """The text of an error."""
    try:
        data = parse_body(content)
    except ValueError:
        return ""
    message = (data.get("message") or data.get("error")) if isinstance(data, Mapping) else None
    return f": {str(message)[:_SHOWN]}" if message else ""


def _seconds(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None

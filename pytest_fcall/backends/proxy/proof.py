"""The proof that whoever listens at the address of a run's proxy is that run: its port may be another program's by now.

A request to the app's models holds prompts and keys. After `kill -9` the file with the address stays, and any user of
the machine may listen there. So the token in the address is not sent before the other side has shown that it knows it.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector, TraceConfig
from yarl import URL

from pytest_fcall.backends.proxy.http import new_client_session

PROVE = "prove"
"""Stands in place of a token in the address of a challenge."""
_SECONDS = 5.0
_LONGEST = 200
_CHALLENGE_BYTES = 16


class NotProven(ClientError):
    """Whoever listens there does not know the token, or nobody listens any more."""


def proof(token: str, challenge: str) -> str:
    """The answer to a challenge, which only those can give who know the token."""
    return hmac.digest(token.encode(), f"pytest-fcall proxy {challenge}".encode(), "sha256").hex()


@asynccontextmanager
async def proven_session(base: str) -> AsyncIterator[ClientSession]:
    """A client with one connection, to the proxy at `base`, which has proven to be it. Raises NotProven."""
    address, _, token = base.rpartition("/")
    challenge = secrets.token_hex(_CHALLENGE_BYTES)
    connections = TraceConfig()
    connections.on_connection_create_start.append(_OneConnection())
    connector = TCPConnector(limit=1)
    async with new_client_session(connector, [connections], through_proxies=False) as session:
        url = URL(f"{address}/{PROVE}/{challenge}/", encoded=True)
        try:
            async with session.get(url, timeout=ClientTimeout(_SECONDS), allow_redirects=False) as answer:
                given = await answer.content.read(_LONGEST)
        except (ClientError, OSError, TimeoutError) as error:
            raise NotProven(str(error)) from None
        if not hmac.compare_digest(given, proof(token, challenge).encode()):
            raise NotProven("it does not know the token")
        yield session


class _OneConnection:
    """Refuses a second connection: another program may have the port by then."""

    def __init__(self) -> None:
        self._opened = False

    async def __call__(self, *_: object) -> None:
        if self._opened:
            raise NotProven("the connection ended")
        self._opened = True

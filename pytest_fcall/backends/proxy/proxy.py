"""The proxy: what an app asks is answered from recordings, or passed on and recorded."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from socket import socket
from urllib.parse import parse_qsl, urlencode, urlsplit

from aiohttp import web

from pytest_fcall.backends.dispatch.arrivals import Arrivals
from pytest_fcall.backends.proxy.answering import Answering
from pytest_fcall.backends.proxy.asked import read_asked
from pytest_fcall.backends.proxy.refusal import UNKNOWN, refused
from pytest_fcall.backends.proxy.runs import Runs, Untied
from pytest_fcall.backends.proxy.serving import Way, served
from pytest_fcall.backends.proxy.upstream import new_session
from pytest_fcall.backends.secrets import public
from pytest_fcall.backends.store import New

_GATHERING = 0.0
"""Seconds that a reply waits for others to be kept with: the app waits, too, and those of a busy moment meet anyway."""
_WEBSOCKET = (
    "what goes over a WebSocket is not recorded; give this client its provider's own address, or set fc_proxy = off"
)


class Proxy:
    """Answers the requests of the runs that it knows. `keep` gets what is new, in the thread of the event loop."""

    def __init__(self, runs: Runs, keep: Callable[[Sequence[New]], object]) -> None:
        self._runs = runs
        self._keep = keep

    async def serve(self, listening: socket, end: Coroutine[None, None, object]) -> None:
        """Serve a socket until `end`."""
        self._arrivals: Arrivals[New] = Arrivals(self._keep, _GATHERING)
        async with new_session() as self._session:
            try:
                async with served(listening, self._answer):
                    await end
            finally:
                self._arrivals.hand_on_all()

    async def _answer(self, request: web.BaseRequest, way: Way) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return refused(_WEBSOCKET)
        try:
            run = self._runs.of(way.token, request.headers)
            provider = run.upstreams[way.variable]
        except KeyError:
            return refused("the proxy knows no such address; is this the client of an earlier run?")
        except Untied as untied:
            return refused(str(untied), UNKNOWN)
        content = await request.read()
        below = way.path.removeprefix(urlsplit(provider).path.rstrip("/"))
        taken = run.take(read_asked(request.method, _with_query(below, way.query), content))
        answering = Answering(request, run, taken, self._session, self._arrivals)
        return await answering.answer(provider, way.at(provider), content)


def _with_query(path: str, query: str) -> str:
    """The path with its query, without what may be a key."""
    told = public(dict(parse_qsl(query))) if query else {}
    return f"{path}?{urlencode(sorted(told.items()))}" if told else path

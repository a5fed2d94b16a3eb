"""The way of the apps in this process to the proxy: its port, its address, and the variables that lead there."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_fcall.session.ask.proxy_variables import ProxyVariables

if TYPE_CHECKING:
    from socket import socket

    from pytest_fcall.backends.proxy.app_run import AppRun
    from pytest_fcall.backends.proxy.case_lookup import AppRuns
    from pytest_fcall.backends.proxy.listener import LazyListener
    from pytest_fcall.backends.spans.inbox import SpanInbox
    from pytest_fcall.backends.store import NewReply

_REPLAYED = (
    "this request comes from a test without the fixture fc_wire, and --fc-replay allows no request to a model: its "
    "client was made while the variables led to the proxy of pytest-fcall"
)


class ProxyEndpoint:
    """Takes the requests of apps from `open_early` on, which may be called before there is a session."""

    def __init__(self, variables: Mapping[str, str], *, replay: bool) -> None:
        self.variables = ProxyVariables(variables)
        self._keep: Callable[[Sequence[NewReply]], object] | None = None
        """Is called with new replies; None before there is a session, as no app runs for a case then."""
        self._nobody: Callable[[], AppRun] | None = None
        self.inbox: SpanInbox | None = None
        """Takes the spans of apps; None while none are wanted."""
        self._replay = replay
        self._runs: AppRuns | None = None
        self._listener: LazyListener | None = None
        self._at_start: Mapping[str, str] = {}
        """The addresses of the providers when the variables were set first: where clients made since then would ask."""
        self._plain_tests = 0
        self._live = False

    @property
    def runs(self) -> AppRuns:
        """The apps at work."""
        if self._runs is None:
            from pytest_fcall.backends.proxy.case_lookup import AppRuns

            self._runs = AppRuns(self._nobody)
        return self._runs

    @property
    def strays(self) -> Mapping[tuple[str, bool], int]:
        """Requests that are part of no verdict: see `AppRun.strays`."""
        return dict(self._runs.strays) if self._runs else {}

    def base(self, token: str) -> str:
        """The address of the proxy for a group of apps, or for one of them."""
        if self._listener is None:
            from pytest_fcall.backends.proxy.listener import LazyListener

            self._listener = LazyListener(self._serve)
        return f"http://127.0.0.1:{self._listener.port}/{token}"

    def open_early(self, *, offline: bool) -> None:
        """Let the variables lead here, so that clients which are made when a module is imported do, too."""
        self.variables.set_early(self.base(self.runs.in_process), offline=offline)
        self._at_start = self.variables.upstreams()
        self._live = not offline

    def take_spans(self, *, over: bool) -> None:
        """Take spans from now on, and let the variables of exporters lead here, `over` those that a person has set."""
        if self.inbox is None:
            from pytest_fcall.backends.spans.inbox import SpanInbox

            self.inbox = SpanInbox()
            self.variables.lead_spans(over=over)

    def serve_session(self, keep: Callable[[Sequence[NewReply]], object], nobody: Callable[[], AppRun]) -> None:
        """Hand new replies to the session that there is from now on; `nobody` gives its run of nobody's requests."""
        self._keep, self._nobody = keep, nobody
        if self._runs is not None:
            self._runs.nobody = nobody

    @contextmanager
    def plain_test(self) -> Iterator[None]:
        """Let a test that is no case find the variables as they were, and reach providers by clients made before."""
        self.variables.stay(stays=False)
        self._plain_tests += 1
        try:
            yield
        finally:
            self._plain_tests -= 1

    def close(self) -> None:
        """Give the variables back, and stop serving. May be called again."""
        self.variables.unset()
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    async def _serve(self, connections: socket, end: Coroutine[None, None, object]) -> None:
        """Serve the connections. The server is imported only now, with the first one."""
        from pytest_fcall.backends.proxy.proxy import Proxy

        proxy = Proxy(self.runs, self._keep_replies, self._providers_of_others, lambda: self.inbox)
        await proxy.serve(connections, end)

    def _keep_replies(self, replies: Sequence[NewReply]) -> None:
        if self._keep is not None:
            self._keep(replies)

    def _providers_of_others(self) -> Mapping[str, str]:
        """The addresses that may be asked as if there were no proxy: by a plain test, or while modules are imported.

        Raises UnknownCase where a plain test may ask nobody.
        """
        from pytest_fcall.backends.proxy.case_lookup import UnknownCase

        if self._plain_tests and self._replay:
            raise UnknownCase(_REPLAYED)
        at_import = self._keep is None and self._live
        return self._at_start if self._plain_tests or at_import else {}

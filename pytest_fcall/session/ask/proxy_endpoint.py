"""The way of the apps in this process to the proxy: its port, its address, and the variables that lead there."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from pytest_fcall.backends.proxy.variables import QUIET, provider_addresses, proxy_addresses
from pytest_fcall.backends.spans.variables import SPANS_READ, SPANS_SETTINGS, span_variables, variables_of_person
from pytest_fcall.core.provider_variables import PLACEHOLDER_KEY, placeholder_keys, raw_environment

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
        self._listener: LazyListener | None = None
        self._at_start: Mapping[str, str] = {}
        """The addresses of the providers when the variables were set first: where clients made since then would ask."""
        self._plain_tests = 0
        self._live = False

    @cached_property
    def runs(self) -> AppRuns:
        """The apps at work."""
        from pytest_fcall.backends.proxy.case_lookup import AppRuns

        return AppRuns(self._nobody)

    @property
    def strays(self) -> Mapping[tuple[str, bool], int]:
        """Requests that are part of no verdict: see `AppRun.strays`."""
        return dict(self.runs.strays) if "runs" in self.__dict__ else {}

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
        if "runs" in self.__dict__:
            self.runs.nobody = nobody

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


class ProxyVariables:
    """Lets the variables of this process lead to the proxy. Safe with threads.

    Libraries read variables in threads of theirs, and no lock protects them while they are changed. So they are set
    once, by `set_early` or for the first app that is asked, and stay set until `restore`. Where something else changes
    them from test to test, such as a fixture, they are set for each run of an app.
    """

    def __init__(self, variables: Mapping[str, str], environment: MutableMapping[str, str] = os.environ) -> None:
        self._variables = variables
        self.defaults = tuple(filter(None, variables.values()))
        """The addresses of the providers where no variable is set."""
        self._environment = environment
        self._raw, self._encode = raw_environment(environment)
        self._lock = Lock()
        self._users = 0
        self._stays = False
        self._early: tuple[str, bool] | None = None
        """The purpose that they are set for wherever no app is at work; None where an app has to be at work."""
        self._changed_by_others = False
        self._spans: Literal["", "free", "over"] = ""
        """Whether the variables of exporters of spans lead there, too: where a person has set none, or over those."""
        self._set_for: tuple[str, bool] | None = None
        """The address of the proxy that they lead to, and whether offline; None where they are as they were."""
        self._keys: tuple[Any, ...] = ()
        self._left: tuple[Any, ...] = ()
        """Names and values of the variables when they were set last, as they are in `_raw`."""
        self._left_values: dict[str, str | None] = {}
        """The same, in words."""
        self._before: dict[str, str | None] = {}
        """Their values before they were set last."""
        self._first: dict[str, str | None] = {}
        """Their values before they were set to stay: what a fixture means that puts the proxy's address back."""
        self._prefix = ""
        self._seen: dict[str, str] | None = None
        self._upstreams: Mapping[str, str] = {}
        self._addresses: dict[str, dict[str, str]] = {}

    def upstreams(self) -> Mapping[str, str]:
        """The addresses of the providers, also while the variables lead to the proxy."""
        with self._lock:
            if not self._users:
                self._read_upstreams(self._unproxied())
            return self._upstreams

    def values(self, base: str, *, offline: bool) -> dict[str, str]:
        """The variables that lead another process to the proxy at `base`.

        Offline, they keep frameworks from reporting to others, and have a placeholder for each key: nobody sees there
        what goes around the proxy, and without a key no provider answers it.
        """
        with self._lock:
            environment = self._unproxied()
            if not self._users:
                self._read_upstreams(environment)
            found = self._values(base, environment, offline=offline)
            return {**found, **placeholder_keys(self._upstreams)} if offline else found

    def lead_spans(self, *, over: bool) -> None:
        """Let exporters of spans lead to the proxy, too, from the next time that the variables are set."""
        was_set = self._set_for is not None
        self.restore()
        self._spans = "over" if over else "free"
        if was_set:
            self._set_again()

    def spans_of_person(self) -> Sequence[str]:
        """The variables by which a person has spans sent elsewhere, and that stay as they are."""
        with self._lock:
            return () if self._spans == "over" else tuple(variables_of_person(self._unproxied()))

    def set_early(self, base: str, *, offline: bool) -> None:
        """Let the variables lead to the proxy from now on, also before the first app is at work."""
        with self._lock:
            self._early = base, offline
            self._stays = True
            self._set(base, offline=offline)

    def stay(self, *, stays: bool) -> None:
        """Let them stay set behind each run of an app, as among cases, or not, as in plain tests."""
        if stays is not self._stays:
            self._stays = stays
            self.restore()
        if stays and self._early and self._set_for is None:
            self._set_again()

    @contextmanager
    def without_proxy(self) -> Iterator[None]:
        """Let the variables be as they were for as long as something reads them that is to ask a provider itself."""
        was_set = self._set_for is not None
        self.restore()
        try:
            yield
        finally:
            if was_set and self._stays and self._early:
                self._set_again()

    def begin(self, base: str, *, offline: bool) -> None:
        """Let the variables lead to the proxy for a run of an app. Of runs at the same time the first one counts."""
        with self._lock:
            if not self._users:
                is_as_left = self._left == self._now()
                if self._set_for is not None and not is_as_left:
                    self._changed_by_others = True
                if self._set_for != (base, offline) or not is_as_left:
                    self._set(base, offline=offline)
            self._users += 1

    def end(self) -> None:
        """End a run of an app. What the app changed is changed back."""
        with self._lock:
            self._users -= 1
            if self._users:
                return
            if not self._stays or self._changed_by_others:
                self._write(self._before)
                self._set_for = None
            elif self._left != self._now():
                self._write(self._left_values)

    def restore(self) -> None:
        """Let the variables be as they were, unless an app is at work. What others have changed meanwhile stays."""
        with self._lock:
            if not self._users:
                # Ours may be there although they are not set: a fixture gives back what it has found.
                self._write({name: value for name, value in self._first.items() if self._is_ours(name)})
                self._set_for = None

    def unset(self) -> None:
        """End what `set_early` has begun, and let the variables be as they were."""
        self._early = None
        self.restore()

    def _set_again(self) -> None:
        with self._lock:
            if not self._users and self._early:
                base, offline = self._early
                self._set(base, offline=offline)

    def _set(self, base: str, *, offline: bool) -> None:
        environment = self._unproxied()
        self._read_upstreams(environment)
        values = self._values(base, environment, offline=offline)
        names = {*self._variables, *self._before, *values}
        self._before = {name: environment.get(name) for name in names}
        if not self._changed_by_others:
            self._first = self._before
        self._write({**self._before, **values})
        self._set_for, self._prefix = (base, offline), f"{base}/"
        self._keys = tuple(map(self._encode, names))
        self._left, self._left_values = self._now(), {name: self._environment.get(name) for name in names}

    def _values(self, base: str, environment: Mapping[str, str], *, offline: bool) -> dict[str, str]:
        if base not in self._addresses:
            self._addresses[base] = proxy_addresses(self._upstreams, base)
        values = self._addresses[base]
        if self._spans:
            values = values | span_variables(base, environment, over=self._spans == "over")
        if not offline:
            return values
        missing = placeholder_keys(self._upstreams)
        keys = {name: key for name, key in missing.items() if not environment.get(name)}
        return {**values, **keys, **QUIET}

    def _read_upstreams(self, environment: Mapping[str, str]) -> None:
        seen = {name: environment[name] for name in self._variables if name in environment}
        if seen != self._seen:
            self._seen, self._upstreams = seen, provider_addresses(self._variables, seen)
            self._addresses.clear()

    def _unproxied(self) -> dict[str, str]:
        """The variables as they were without the proxy, also where a fixture has set them to what it found."""
        names = {*self._variables, *placeholder_keys(self._variables), *QUIET, *(SPANS_READ if self._spans else ())}
        values = {name: self._first[name] if self._is_ours(name) else self._environment.get(name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def _is_ours(self, name: str) -> bool:
        value = self._environment.get(name)
        if value is None or name not in self._first:
            return False
        return value in (PLACEHOLDER_KEY, QUIET.get(name), SPANS_SETTINGS.get(name)) or value.startswith(self._prefix)

    def _now(self) -> tuple[Any, ...]:
        return tuple(map(self._raw.get, self._keys))

    def _write(self, values: Mapping[str, str | None]) -> None:
        for name, value in values.items():
            if value is None:
                self._environment.pop(name, None)
            elif self._environment.get(name) != value:
                self._environment[name] = value

"""The environment variables that lead an app in this process to its models, or to the proxy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, Literal

from pytest_fcall.backends.proxy.variables import QUIET, provider_addresses, proxy_addresses
from pytest_fcall.backends.spans.variables import SPANS_READ, SPANS_SETTINGS, span_variables, variables_of_person
from pytest_fcall.core.provider_variables import PLACEHOLDER_KEY, placeholder_keys, raw_environment


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

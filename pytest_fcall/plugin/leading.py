"""The variables that lead apps to the proxy, in this process and in those that it starts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from threading import Lock


class Leading:
    """Knows where the variables lead without the proxy, also while they lead to it. Safe with threads."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._lock = Lock()
        self._led = ExitStack()
        self._wanted = 0
        self._upstreams: Mapping[str, str] = {}

    def upstreams(self) -> Mapping[str, str]:
        """Where the providers are."""
        from pytest_fcall.backends.proxy.variables import upstreams

        with self._lock:
            if not self._wanted:
                self._upstreams = upstreams(self._variables, os.environ)
            return self._upstreams

    def values(self, base: str, *, offline: bool) -> dict[str, str]:
        """What leads to the proxy at `base`; offline, with keys that are none where there are none."""
        from pytest_fcall.backends.proxy.variables import keys_of, proxied

        upstreams = self.upstreams()
        keys = keys_of(upstreams) if offline else {}
        return {**proxied(upstreams, base), **{name: key for name, key in keys.items() if not os.environ.get(name)}}

    @contextmanager
    def here(self, base: str, *, offline: bool) -> Iterator[None]:
        """Set the variables of this process, until nobody wants it any more."""
        from pytest_fcall.backends.proxy.variables import environment_with

        values = self.values(base, offline=offline)
        with self._lock:
            if not self._wanted:
                self._led.enter_context(environment_with(values))
            self._wanted += 1
        try:
            yield
        finally:
            with self._lock:
                self._wanted -= 1
                if not self._wanted:
                    self._led.close()

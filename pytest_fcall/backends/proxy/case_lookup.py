"""Which case a request of an app belongs to: by its address, by a header, or because only one case runs."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_fcall.backends.proxy.app_run import AppRun

CASE_HEADER = "x-fcall-case"
BASE_URL_HEADER = "x-fcall-base-url"
_BAGGAGE_MEMBER = "fcall.case"
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


class UnknownCase(LookupError):
    """The case of a request cannot be determined. The text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class CaseTag:
    """Names the case to an app in another process, so that the app's own requests can be assigned to the case."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """For the request to the app, which may forward one of them."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """For the environment of an app that is started."""


NO_CASE_TAG = CaseTag()
CASE_TAG: ContextVar[CaseTag] = ContextVar("fcall_case_tag", default=NO_CASE_TAG)


def case_headers(token: str, base: str = "") -> dict[str, str]:
    """Headers for the request to an app: it may forward one of them, or send its requests to `base`."""
    return {
        CASE_HEADER: token,
        **({BASE_URL_HEADER: base} if base else {}),
        "baggage": f"{_BAGGAGE_MEMBER}={token}",
        "traceparent": f"00-{token}-{secrets.token_hex(8)}-01",
    }


def case_tokens(headers: Mapping[str, str]) -> list[str]:
    """The tokens that an app forwarded, the most reliable first. `headers` must ignore the case of names."""
    tokens = [headers.get(CASE_HEADER, "").strip()]
    for member in headers.get("baggage", "").split(","):
        name, _, value = member.partition(";")[0].partition("=")
        if name.strip() == _BAGGAGE_MEMBER:
            tokens.append(value.strip())
    if match := _TRACEPARENT.fullmatch(headers.get("traceparent", "").strip().lower()):
        tokens.append(match[1])
    return [token for token in tokens if token]


class AppRuns:
    """The apps at work, each by a secret token, which is a valid trace id."""

    def __init__(self) -> None:
        self.in_process = secrets.token_hex(16)
        """The group of apps in this process."""
        self.by_hand = secrets.token_hex(16)
        """The group of apps that were started by hand, of which one is at work at a time."""
        self._groups = {self.in_process, self.by_hand}
        self._runs: dict[str, tuple[str, Callable[[], AppRun]]] = {}
        self._lock = Lock()

    def add(self, run: Callable[[], AppRun], group: str) -> str:
        """Add a run, which is called for with the first request, and return its token.

        In addresses, `group` stands for its only run at that time.
        """
        token = secrets.token_hex(16)
        with self._lock:
            self._groups.add(group)
            self._runs[token] = group, run
        return token

    def remove(self, token: str) -> None:
        """Remove a run."""
        with self._lock:
            self._runs.pop(token, None)

    def find(self, token: str, headers: Mapping[str, str]) -> AppRun:
        """The run of a request: by its address, by a forwarded header, or as the only one of its group.

        `token` is the one in the request's address. Raises UnknownCase, and KeyError for an address that is not ours.
        """
        with self._lock:
            if token not in self._groups:
                return self._runs[token][1]()
            for named in case_tokens(headers):
                if named in self._runs:
                    return self._runs[named][1]()
            running = len(self._runs)
            candidates = [run for group, run in self._runs.values() if group == token]
        if token == self.by_hand and _names_a_case(headers):
            raise UnknownCase("this request belongs to a case of another run")
        if len(candidates) == 1:
            return candidates[0]()
        if not running:
            raise UnknownCase("this request belongs to no case: none is running")
        cases = f"{running} cases are" if running > 1 else "1 case is"
        raise UnknownCase(
            f"{cases} running and this request names none: let the app forward the header {CASE_HEADER}, baggage or "
            "traceparent of the request that it answers"
        )


def _names_a_case(headers: Mapping[str, str]) -> bool:
    """Whether a header of ours names the case. A `traceparent` may also be the app's own."""
    return bool(case_tokens({name: headers.get(name, "") for name in (CASE_HEADER, "baggage")}))

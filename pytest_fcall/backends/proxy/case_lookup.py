"""Which case a request of an app belongs to: by its address, by a header, or because only one case runs."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock

from pytest_fcall.backends.proxy.app_run import AppRun

CASE_HEADER = "x-fcall-case"
BASE_URL_HEADER = "x-fcall-base-url"
_MEMBER = "fcall.case"
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


class UnknownCase(LookupError):
    """Nobody can tell which case a request belongs to. Says why, and what to do."""


@dataclass(frozen=True, slots=True)
class CaseTag:
    """What an app that is asked over the network is told, so that what it asks is known to belong to its case."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Of the request to the app, for it to pass one on."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """For the environment of an app that is started."""


NO_CASE_TAG = CaseTag()
CASE_TAG: ContextVar[CaseTag] = ContextVar("fcall_tie", default=NO_CASE_TAG)


class AppRuns:
    """The apps that are at work, each by a token that nobody guesses, which is a trace id, too."""

    def __init__(self) -> None:
        self.here = secrets.token_hex(16)
        """Stands in addresses for whichever case it is that an app in this process works on."""
        self.elsewhere = secrets.token_hex(16)
        """The same for apps that were started by hand, and of which one is at work at a time."""
        self._groups = {self.here, self.elsewhere}
        self._runs: dict[str, tuple[str, AppRun]] = {}
        self._lock = Lock()

    def begin(self, run: AppRun, group: str) -> str:
        """Know a run from now on by the token that is given back.

        `group` stands in addresses for whichever of its runs is the only one: `here`, `elsewhere`, or an app's own.
        """
        token = secrets.token_hex(16)
        with self._lock:
            self._groups.add(group)
            self._runs[token] = group, run
        return token

    def end(self, token: str) -> None:
        """Know it no more."""
        with self._lock:
            self._runs.pop(token, None)

    def of(self, token: str, headers: Mapping[str, str]) -> AppRun:
        """The run that a request belongs to, by its address, by what the app passed on, or as the only one.

        Raises Untied. KeyError where the address is none of ours.
        """
        with self._lock:
            if token not in self._groups:
                return self._runs[token][1]
            for named in case_tokens(headers):
                if named in self._runs:
                    return self._runs[named][1]
            running = len(self._runs)
            possible = [run for group, run in self._runs.values() if group == token]
        if token == self.elsewhere and _names_a_case(headers):
            raise UnknownCase("this request belongs to a case that is not running here")
        if len(possible) == 1:
            return possible[0]
        if not running:
            raise UnknownCase("no case is running, so that nobody knows where this request belongs")
        cases = f"{running} cases are" if running > 1 else "1 case is"
        raise UnknownCase(
            f"{cases} running, and this request does not say to which it belongs: have the app pass "
            f"on the header {CASE_HEADER}, baggage or traceparent of the request that it answers"
        )


def case_headers(token: str, base: str = "") -> dict[str, str]:
    """What an app is sent, so that it may pass one of them on, or ask its models at `base`."""
    return {
        CASE_HEADER: token,
        **({BASE_URL_HEADER: base} if base else {}),
        "baggage": f"{_MEMBER}={token}",
        "traceparent": f"00-{token}-{secrets.token_hex(8)}-01",
    }


def _names_a_case(headers: Mapping[str, str]) -> bool:
    """Whether it says outright which case it belongs to. A trace may also be one of the app's own."""
    return bool(case_tokens({name: headers.get(name, "") for name in (CASE_HEADER, "baggage")}))


def case_tokens(headers: Mapping[str, str]) -> list[str]:
    """What an app has passed on, in the order in which it counts. `headers` are found by any case of their names."""
    found = [headers.get(CASE_HEADER, "").strip()]
    for member in headers.get("baggage", "").split(","):
        name, _, value = member.partition(";")[0].partition("=")
        if name.strip() == _MEMBER:
            found.append(value.strip())
    if traced := _TRACEPARENT.fullmatch(headers.get("traceparent", "").strip().lower()):
        found.append(traced[1])
    return [token for token in found if token]

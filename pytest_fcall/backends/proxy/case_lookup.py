"""Which case a request of an app belongs to: by its address, by a header, or because only one case runs."""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from os import urandom
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import ReferenceType, ref

from pytest_fcall.backends.spans.variables import traceparent

if TYPE_CHECKING:
    from pytest_fcall.backends.proxy.app_run import AppRun

CASE_HEADER = "x-fcall-case"
BASE_URL_HEADER = "x-fcall-base-url"
_BAGGAGE_MEMBER = "fcall.case"
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


class UnknownCase(LookupError):
    """The case of a request cannot be determined. The text says why, and what to do."""

    def __init__(self, text: str, *, in_process: bool = False) -> None:
        super().__init__(text)
        self.in_process = in_process
        """Whether the request came from this process, so that no other run can know its case."""


class CaseTag(NamedTuple):
    """Names the case to an app in another process, so that the app's own requests can be assigned to the case."""

    headers: Mapping[str, str] = MappingProxyType({})
    """For the request to the app, which may forward one of them."""
    variables: Mapping[str, str] = MappingProxyType({})
    """For the environment of an app that is started."""


NO_CASE_TAG = CaseTag()
CASE_TAG: ContextVar[CaseTag] = ContextVar("fcall_case_tag", default=NO_CASE_TAG)


def case_headers(token: str, base: str = "") -> dict[str, str]:
    """Headers for the request to an app: it may forward one of them, or send its requests to `base`."""
    return {
        CASE_HEADER: token,
        **({BASE_URL_HEADER: base} if base else {}),
        "baggage": f"{_BAGGAGE_MEMBER}={token}",
        "traceparent": traceparent(token),
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


_LEAST_ROOM: Final = 64


def _new_token() -> str:
    return urandom(16).hex()


class CaseMark:
    """A run of an app, by a secret token, which is a valid trace id.

    What the app begins in this process has the mark in its context. So the mark lives as long as anything of the run
    may still be at work, and no longer.
    """

    __slots__ = ("__weakref__", "group", "run", "token")

    def __init__(self, run: Callable[[], AppRun], group: str) -> None:
        self.token = _new_token()
        self.run = run
        """Called for the run with each request, first ones included."""
        self.group = group


class AppRuns:
    """The runs of apps that are at work, and those that are over and may still send requests."""

    def __init__(self, nobody: Callable[[], AppRun] | None = None) -> None:
        self.nobody = nobody
        """Gives the run for requests from this process that belong to no case; None if they are refused."""
        self.strays: Counter[tuple[str, bool]] = Counter()
        """See `AppRun.strays`; of all runs."""
        self.in_process = _new_token()
        """The group of apps in this process."""
        self.by_hand = _new_token()
        """The group of apps that were started by hand, of which one is at work at a time."""
        self._groups = {self.in_process, self.by_hand}
        self._active: dict[str, CaseMark] = {}
        self._over: dict[str, ReferenceType[CaseMark]] = {}
        """A mark is gone when nothing of its run is at work. A dict of weak values costs four times as much."""
        self._room = _LEAST_ROOM
        """So many of those may be kept before those that are gone are left out."""
        self._kept: set[CaseMark] = set()
        """Those at work in other processes, too, where nobody can see whether they still are."""
        self._searched = True
        """Whether marks were looked for in garbage since a run has ended."""
        self._lock = Lock()

    def add(self, run: Callable[[], AppRun], group: str) -> str:
        """Add a run, which is called for with its requests, and return its token.

        In addresses, `group` stands for its only run at that time.
        """
        mark = CaseMark(run, group)
        with self._lock:
            self._groups.add(group)
            self._active[mark.token] = mark
        return mark.token

    def is_group(self, token: str) -> bool:
        """Whether a token stands for several apps."""
        return token in self._groups

    def mark(self, token: str) -> CaseMark:
        """The mark of a run that is at work."""
        return self._active[token]

    def remove(self, token: str) -> None:
        """Note that a run is over. Requests that name it are still its own."""
        with self._lock:
            if (mark := self._active.pop(token, None)) is None:
                return
            self._over[token] = ref(mark)
            if len(self._over) > self._room:
                self._over = {token: each for token, each in self._over.items() if each() is not None}
                self._room = max(_LEAST_ROOM, 2 * len(self._over))
            self._searched = False
            if mark.group != self.in_process:
                self._kept.add(mark)

    def keep(self, mark: CaseMark) -> None:
        """Keep a mark until the session ends, as a process that was started for its case knows its token."""
        self._kept.add(mark)

    def count_refused(self, token: str) -> None:
        """Count a request whose case is unknown, unless another run may know it."""
        if token != self.by_hand:
            self.strays["", False] += 1

    def find(self, token: str, headers: Mapping[str, str]) -> AppRun:
        """The run of a request: by its address, by a forwarded header, or as the only one of its group.

        `token` is the one in the request's address. Raises UnknownCase, and KeyError for an address that is not ours.
        """
        with self._lock:
            if token not in self._groups:
                if mark := self._known(token):
                    return mark.run()
                raise KeyError(token)
            for named in case_tokens(headers):
                if mark := self._known(named):
                    return mark.run()
            here = token == self.in_process
            if _names_a_case(headers):
                raise UnknownCase("this request belongs to a case of another run", in_process=here)
            candidates = [mark for mark in self._active.values() if mark.group == token]
            if len(candidates) == 1 and not (here and self._may_be_late()):
                return candidates[0].run()
            raise UnknownCase(_why_unknown(len(self._active), here=here), in_process=here)

    def _known(self, token: str) -> CaseMark | None:
        """The mark of a run that is at work, or of which anything still is; None where there is none."""
        over = self._over.get(token)
        return self._active.get(token) or (over() if over else None)

    def _may_be_late(self) -> bool:
        """Whether anything that a run in this process has begun may still be at work, although the run is over."""
        if not self._searched and self._has_unkept():
            self._searched = True
            gc.collect()  # a task that failed is garbage that refers to itself
        return self._has_unkept()

    def _has_unkept(self) -> bool:
        marks = [each() for each in self._over.values()]
        return any(mark not in self._kept for mark in marks if mark is not None)


def _why_unknown(running: int, *, here: bool) -> str:
    if not running:
        return "this request belongs to no case: none is running"
    cases = f"{running} cases are" if running > 1 else "1 case is"
    if not here:
        return (
            f"{cases} running and this request names none: let the app forward the header {CASE_HEADER}, baggage or "
            "traceparent of the request that it answers"
        )
    others = "" if running > 1 else ", and what a case before has begun may still be at work"
    return (
        f"{cases} running{others}, and this request names none: only what httpx, aiohttp and http.client (requests, "
        f"urllib3) send gets the header {CASE_HEADER} by itself"
    )


def _names_a_case(headers: Mapping[str, str]) -> bool:
    """Whether a header of ours names the case. A `traceparent` may also be the app's own."""
    return bool(case_tokens({name: headers.get(name, "") for name in (CASE_HEADER, "baggage")}))

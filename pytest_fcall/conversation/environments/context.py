"""The parts that all environments of a case file share: folders, limits, allowed hosts and recorded results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS, CallLimits
from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.digests import digest
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.schema.sources.lock_file import expand_variables

if TYPE_CHECKING:
    from yarl import URL

_USUAL_PORTS: Final = {"http": 80, "https": 443}
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@?#\[\]\\]+)(:(\d{1,5}|\*))?")
_HIDDEN: Final = "[hidden]"


class ResultStore(Protocol):
    """The recorded results of one conversation."""

    offline: bool
    """Whether only recorded results may be used, and no server asked."""
    conversation_key: str
    """Identifies the conversation by its beginning: the model, its first request and the number of the sample."""

    def find(self, key: str) -> CallResult | None:
        """The recorded result of the call with this key; None where there is none that may be used."""
        ...

    def keep(self, key: str, call: Mapping[str, Json], result: CallResult) -> None:
        """Record a result; `call` describes the call for people, without secrets."""
        ...


class ResultNotRecorded(Exception):
    """A result is not recorded, and the run is offline. Without a tool, it is the state that is missing."""

    def __init__(self, tool: str | None = None) -> None:
        super().__init__(f"no recorded {f'result for this call of `{tool}`' if tool else 'state of the environment'}")


class ResultRecorder:
    """Looks up and records the results of one conversation's calls.

    The key of a call depends on all calls before it that may have changed something, and on how often it was made.
    With `reuse`, a recorded result is used online, too; else only offline.
    """

    def __init__(self, store: ResultStore | None, *, begin: str = "", reuse: bool = False) -> None:
        self._store = store
        self._reuse = reuse
        self._last_key = begin
        self._counts: Counter[str] = Counter()

    async def result(
        self,
        tool: str | None,
        call: Mapping[str, Json],
        carry_out: Callable[[], Awaitable[CallResult]],
        *,
        changes: bool = True,
        shown: Mapping[str, Json] | None = None,
    ) -> CallResult:
        """The recorded result of the call, else that of `carry_out`. Offline, raises ResultNotRecorded.

        `changes` says whether the call may change something; `shown` is written to the recording in place of `call`.
        """
        try:
            key = self._next_key(call, changes=changes)
        except (ValueError, RecursionError) as error:
            return CallResult(error=f"the arguments are not JSON: {error}")
        store = self._store
        if store is None:
            return await carry_out()
        if (store.offline or self._reuse) and (found := store.find(key)) is not None:
            return found
        if store.offline:
            raise ResultNotRecorded(tool)
        result = await carry_out()
        store.keep(key, call if shown is None else shown, result)
        return result

    def _next_key(self, call: Mapping[str, Json], *, changes: bool) -> str:
        step = digest({"after": self._last_key, "call": call})
        self._counts[step] += 1
        key = digest({"call": step, "time": self._counts[step]})
        if changes:
            self._last_key = key
        return key


@dataclass(frozen=True, slots=True)
class StoredResults:
    """Results found by the call alone, in whatever conversation it was made.

    `identity` distinguishes the tools of one environment from those of another. Raises ValueError or RecursionError
    where the arguments are not JSON.
    """

    identity: Mapping[str, Json]
    store: ResultStore

    def find(self, tool: str, arguments: Mapping[str, Json]) -> CallResult | None:
        """The result of the call; None where it is not known."""
        return self.store.find(_first_key(self._call(tool, arguments)))

    def keep(self, tool: str, arguments: Mapping[str, Json], result: CallResult) -> None:
        """Store the result of the call."""
        call = self._call(tool, arguments)
        self.store.keep(_first_key(call), call, result)

    def _call(self, tool: str, arguments: Mapping[str, Json]) -> dict[str, Json]:
        return {**self.identity, "tool": tool, "arguments": arguments}


def _first_key(call: Mapping[str, Json]) -> str:
    """The key of a call as if it were the first one of a conversation."""
    return digest({"call": digest({"after": "", "call": call}), "time": 1})


class HostRefused(ValueError):
    """An address is on a host that is not allowed. The text names the host and the option that allows it."""


def is_host(text: str) -> bool:
    """Whether the text is an entry for the list: `api.example.com`, `localhost:8000` or `localhost:*`."""
    return _HOST.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Hosts:
    """The allowed hosts: a name without a port allows the usual ports, `:*` allows any.

    `headers` are sent to a host, named in the same way, together with those of the call. `${NAME}` in their values is
    replaced by the variable of that name in `variables`.
    """

    allowed: tuple[str, ...] = ()
    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)

    def check(self, url: URL) -> None:
        """Raise HostRefused for an address on a host that is not allowed."""
        if url.scheme not in _USUAL_PORTS or not url.host:
            raise HostRefused(f"{str(url)[:100]!r} is not the address of a web server")
        if url.user is not None or url.password is not None:
            raise HostRefused("an address must not contain a user or a password")
        if not _names(url) & {each.lower() for each in self.allowed}:
            named = f"{url.raw_host}" if url.is_default_port() else f"{url.raw_host}:{url.port}"
            raise HostRefused(f"the host {named} is not allowed; to allow it: --fc-allow-host={named}")

    def headers_for(self, url: URL) -> dict[str, str]:
        """The headers configured for the host of the address. Raises SchemaError for a variable that is not set."""
        names = _names(url)
        found = [headers for host, headers in self.headers.items() if host.lower() in names]
        return {name: expand_variables(value, self.variables) for headers in found for name, value in headers.items()}

    @staticmethod
    def without_secrets(text: str, sent: Mapping[str, str]) -> str:
        """The text of an answer, with the values of our headers hidden: a server may repeat them."""
        for value in sent.values():
            for secret in (value, value.rpartition(" ")[2]):  # `Bearer …`
                text = text.replace(secret, _HIDDEN) if len(secret) > 3 else text
        return text


def _names(url: URL) -> set[str]:
    """All entries of the list that would allow the address."""
    host = (url.raw_host or "").lower()
    host = f"[{host}]" if ":" in host else host
    usual = {host} if url.port == _USUAL_PORTS.get(url.scheme) else set()
    return {f"{host}:{url.port}", f"{host}:*", *usual}


@dataclass(frozen=True, slots=True)
class EnvironmentContext:
    """The project, and the limits of what tools may do."""

    root: Path
    """pytest's root folder, which is importable."""
    folder: Path
    """The folder of the case file."""
    limits: CallLimits = DEFAULT_LIMITS
    hosts: Hosts = field(default_factory=Hosts)
    """The hosts that may be asked over HTTP; none by default."""
    result_store: ResultStore | None = None
    """The place in which results of calls are recorded; None records nothing."""
    note: Callable[[str], object] | None = None
    """Is told what people should know of this machine."""


def source_name(tool: Tool) -> str:
    """The name of the tool in its source, without the prefix of `as:`."""
    name = (tool.origin or {}).get("name")
    return name if isinstance(name, str) else tool.name

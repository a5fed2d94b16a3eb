"""The parts that all environments of a case file share: folders, limits, allowed hosts and recorded results."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_fcall.conversation.environments.recorded_results import ResultStore
from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS, Limits
from pytest_fcall.core import Tool
from pytest_fcall.schema.sources.variables import expand_variables

if TYPE_CHECKING:
    from yarl import URL

_USUAL_PORTS: Final = {"http": 80, "https": 443}
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@?#\[\]\\]+)(:(\d{1,5}|\*))?")
_HIDDEN: Final = "[hidden]"


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
    limits: Limits = DEFAULT_LIMITS
    hosts: Hosts = field(default_factory=Hosts)
    """The hosts that may be asked over HTTP; none by default."""
    result_store: ResultStore | None = None
    """Where results of calls are recorded; None records nothing."""
    note: Callable[[str], object] | None = None
    """Is told what people should know of this machine."""


def source_name(tool: Tool) -> str:
    """The name of the tool in its source, without the prefix of `as:`."""
    name = (tool.origin or {}).get("name")
    return name if isinstance(name, str) else tool.name

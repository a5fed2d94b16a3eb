"""The hosts that may be asked over HTTP, and the headers sent to each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pytest_fcall.schema.sources.variables import expand_variables

if TYPE_CHECKING:
    from yarl import URL


_USUAL_PORTS: Final = {"http": 80, "https": 443}
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@?#\[\]\\]+)(:(\d{1,5}|\*))?")
_HIDDEN: Final = "[hidden]"


class HostRefused(ValueError):
    """An address leads where nobody allowed to go. The text says which, and how it is allowed."""


def is_host(text: str) -> bool:
    """Whether this may stand in the list: `api.example.com`, `localhost:8000`, `localhost:*`."""
    return _HOST.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Hosts:
    """Hosts that may be asked, by name: without a port those at the usual ones, with `:*` at any.

    `headers` are sent to a host, named in the same way, beside what a call asks for; `${NAME}` in their values stands
    for a variable of `variables`.
    """

    allowed: tuple[str, ...] = ()
    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)

    def check(self, url: URL) -> None:
        """Refuse, with HostRefused, what is not allowed."""
        if url.scheme not in _USUAL_PORTS or not url.host:
            raise HostRefused(f"{str(url)[:100]!r} is no address of a web server")
        if url.user is not None or url.password is not None:
            raise HostRefused("an address may hold no user and no password")
        if not _names(url) & {each.lower() for each in self.allowed}:
            named = f"{url.raw_host}" if url.is_default_port() else f"{url.raw_host}:{url.port}"
            raise HostRefused(f"the host {named} may not be asked; to allow it: --fc-allow-host={named}")

    def headers_for(self, url: URL) -> dict[str, str]:
        """What is sent beside what a call asks for. SchemaError where a variable is not set."""
        names = _names(url)
        found = [headers for host, headers in self.headers.items() if host.lower() in names]
        return {name: expand_variables(value, self.variables) for headers in found for name, value in headers.items()}

    def without_secrets(self, said: str, sent: Mapping[str, str]) -> str:
        """What a server said, without the headers of ours that it may repeat."""
        for value in sent.values():
            for secret in (value, value.rpartition(" ")[2]):  # `Bearer …`
                said = said.replace(secret, _HIDDEN) if len(secret) > 3 else said
        return said


def _names(url: URL) -> set[str]:
    """The ways in which the list may name where an address leads."""
    host = (url.raw_host or "").lower()
    host = f"[{host}]" if ":" in host else host
    usual = {host} if url.port == _USUAL_PORTS.get(url.scheme) else set()
    return {f"{host}:{url.port}", f"{host}:*", *usual}

"""The HTTP proxies that the environment names, and the servers that are asked without one."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass


@dataclass(frozen=True, slots=True)
class EnvironmentProxy:
    """An HTTP proxy."""

    scheme: str
    host: str
    """With the port, if it is named."""
    credentials: str = field(repr=False)
    """Name and password as in an address; empty for a proxy that needs none."""

    @property
    def url(self) -> str:
        """The address, without name and password."""
        return f"{self.scheme}://{self.host}"

    @property
    def headers(self) -> dict[str, str]:
        """The headers that the proxy wants to see."""
        return {"Proxy-Authorization": _authorization(self.credentials)} if self.credentials else {}


def environment_proxy(url: str) -> EnvironmentProxy | None:
    """The proxy for requests to `url`; None where the server is asked directly.

    Raises ValueError, which shows nothing of the proxy's address, if that is not the address of an HTTP proxy.
    """
    target = urlsplit(url)
    proxies = _named_proxies()
    named = proxies.get(target.scheme) or proxies.get("all")
    if not named or _is_excepted(target, proxies.get("no", "")):
        return None
    address = _address(named)
    if address is None:
        variable = f"{target.scheme}_proxy" if proxies.get(target.scheme) else "all_proxy"
        raise ValueError(f"{variable.upper()} must be an address such as http://127.0.0.1:3128")
    credentials, _, host = address.netloc.rpartition("@")
    return EnvironmentProxy(address.scheme, host, credentials)


def proxy_secrets() -> Iterator[str]:
    """The parts of the environment's proxies that no message may show."""
    for name, value in _named_proxies().items():
        credentials = value.rpartition("@")[0].rpartition("://")[2]
        if credentials and name != "no":
            password = credentials.partition(":")[2]
            yield from (value, credentials, password, unquote(password), _authorization(credentials).partition(" ")[2])


def _named_proxies() -> dict[str, str]:
    """The addresses that the environment names, by schemes.

    pytest changes the environment with each test, and another thread that walks through it may stumble over that.
    """
    while True:
        try:
            return getproxies()
        except (KeyError, RuntimeError):
            continue


def _address(named: str) -> SplitResult | None:
    """The address of an HTTP proxy, which may lack `http://`; None for anything else."""
    try:
        address = urlsplit(named if "://" in named else f"http://{named}")
        is_valid = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        return None
    return address if is_valid else None


def _authorization(credentials: str) -> str:
    name, _, password = credentials.partition(":")
    return f"Basic {b64encode(f'{unquote(name)}:{unquote(password)}'.encode()).decode()}"


def _is_excepted(target: SplitResult, exceptions: str) -> bool:
    """Whether `NO_PROXY` or the system's settings except a server. Networks count, as for the openai library."""
    host = target.hostname or ""
    return proxy_bypass(target.netloc) or any(_covers(entry.strip(), host) for entry in exceptions.split(","))


def _covers(entry: str, host: str) -> bool:
    if entry == "*" or (entry.startswith("*.") and host.endswith(entry[1:].lower())):
        return True
    try:
        return ip_address(host) in ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return False

"""The HTTP request that a call of `requests.get` sends, without sending it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from pytest_fcall.suites.bfcl.source_calls import execute_source, unknown_name

Parameters: TypeAlias = tuple[tuple[str, str], ...]
"""The parameters of a query in the order of their names."""

_NAMES: Final = frozenset({"requests.get", "requests_get"})
"""The function, and its name for models whose APIs forbid dots."""
_ARGUMENTS: Final = frozenset(
    {"url", "params", "data", "headers", "cookies", "files", "auth", "timeout", "allow_redirects"}
    | {"proxies", "hooks", "stream", "verify", "cert", "json"}
)
_KEY: Final = re.compile(r"(?:YOUR-)?[A-Z]+-API-KEY")
"""A placeholder for a key. The questions of the first version lack `YOUR-`."""


class NotSendable(ValueError):
    """`requests.get` raises an error instead of sending a request. The text says which."""


@dataclass(frozen=True, slots=True)
class RestRequest:
    """The part of a request on which the answer of a server depends. Placeholders of keys are all alike."""

    address: str
    """Scheme, host and path."""
    parameters: Parameters
    headers: frozenset[str]
    """The names of the headers, in lower case."""


def request_of(source: str) -> RestRequest:
    """Return the request of a call, given as source. Raises NotSendable for a call that sends none."""
    try:
        sent = execute_source(source, _callee)
    except NotSendable:
        raise
    except Exception as error:  # source that cannot be parsed, values that are not literals
        raise NotSendable(str(error)) from None
    if not isinstance(sent, RestRequest):
        raise NotSendable(f"not a call of requests.get: {source[:200]}")
    return sent


def _callee(callee: ast.expr) -> Callable[..., object]:
    if ast.unparse(callee) not in _NAMES:
        raise unknown_name(callee)
    return _request


def _request(*positional: Any, **named: Any) -> RestRequest:
    given = {**dict(zip(("url", "params"), positional, strict=False)), **named}
    if "url" not in given:
        raise NotSendable("get() missing 1 required positional argument: 'url'")
    if unknown := next((name for name in given if name not in _ARGUMENTS), None):
        raise NotSendable(f"Session.request() got an unexpected keyword argument {unknown!r}")
    url = given["url"]
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.netloc:
        raise NotSendable(f"Invalid URL {str(url)[:200]!r}: no scheme or no host supplied")
    _check_transport(parts.scheme, given)
    query = [*parse_qsl(parts.query, keep_blank_values=True), *_pairs(given.get("params"))]
    return RestRequest(
        _KEY.sub("KEY", f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"),
        tuple(sorted((name, _KEY.sub("KEY", value)) for name, value in query)),
        frozenset(_header_names(given.get("headers"))),
    )


def _check_transport(scheme: str, given: Mapping[str, Any]) -> None:
    """Refuse what `requests` or its connection refuses: credentials, certificates, proxies and timeouts of no use."""
    auth, verify, proxies = (given.get(name) for name in ("auth", "verify", "proxies"))
    if auth and not (isinstance(auth, tuple) and len(auth) == 2):
        raise NotSendable(f"{type(auth).__name__!r} object is not callable")
    if given.get("cert"):
        raise NotSendable(f"Could not find the TLS certificate file, invalid path: {str(given['cert'])[:200]}")
    if scheme == "https" and isinstance(verify, str) and verify:
        raise NotSendable(f"Could not find a suitable TLS CA certificate bundle, invalid path: {verify[:200]}")
    if proxies and (not isinstance(proxies, Mapping) or proxies.get(scheme)):
        raise NotSendable("the proxies cannot be reached")
    if given.get("cookies") and not isinstance(given["cookies"], Mapping):
        raise NotSendable("cookies must be a mapping")
    timeout = given.get("timeout")
    for seconds in timeout if isinstance(timeout, tuple) else (timeout,):
        if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0):
            raise NotSendable(f"a timeout must be a number above 0, not {str(seconds)[:200]!r}")


def _pairs(params: Any) -> Iterator[tuple[str, str]]:
    """The parameters as `requests` writes them: lists are repeated, and None is left out."""
    if isinstance(params, str):
        yield from parse_qsl(params, keep_blank_values=True)
    elif params:
        try:
            pairs = [*(params.items() if isinstance(params, Mapping) else params)]
            for name, value in pairs:
                for each in value if isinstance(value, list | tuple) else (value,):
                    if each is not None:
                        yield str(name), _text(each)
        except (TypeError, ValueError):
            raise NotSendable("params is neither a mapping nor pairs") from None


def _text(value: Any) -> str:
    """A value in a query. Numbers that are equal have one text, since servers read them as numbers."""
    text = str(value)
    return text.removesuffix(".0") if isinstance(value, float) else text


def _header_names(headers: Any) -> Iterator[str]:
    if not headers:
        return
    if not isinstance(headers, Mapping):
        raise NotSendable(f"{type(headers).__name__!r} object has no attribute 'items'")
    for name, value in headers.items():
        if not isinstance(name, str) or not isinstance(value, str | bytes | None):
            raise NotSendable(f"the header {name!r} must be a string")
        if value is not None:
            yield name.lower()

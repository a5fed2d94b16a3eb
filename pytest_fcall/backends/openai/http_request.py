"""An HTTP request to a server, and the one to the address that the server names instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from yarl import URL

from pytest_fcall.backends.openai.server_answer import ServerAnswer

PLAIN_HEADERS: Mapping[str, str] = {
    "Accept": "application/json",
    "User-Agent": "pytest-fcall",
    "Content-Type": "application/json",
}
"""The headers that any server may see."""
_WITHOUT_BODY = frozenset({HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.FOUND, HTTPStatus.SEE_OTHER})
"""Redirects that make a GET of a POST, as browsers and the openai library do."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A POST of `body`, or a GET without one."""

    url: URL
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None
    has_left: bool = False
    """Whether a redirect has led to another origin, where nothing may follow that says who asks."""

    def redirected(self, answer: ServerAnswer) -> HttpRequest:
        """The request to the address that an answer names. Raises ValueError if that is no address."""
        url = self.url.join(URL(answer.headers["location"])).with_fragment(None)
        if url.scheme not in ("http", "https") or not url.host:
            raise ValueError("a redirect has no valid address")
        has_left = self.has_left or url.origin() != self.url.origin()
        return replace(
            self,
            url=url.with_user(None),
            headers=PLAIN_HEADERS if has_left else self.headers,
            body=None if answer.status in _WITHOUT_BODY else self.body,
            has_left=has_left,
        )

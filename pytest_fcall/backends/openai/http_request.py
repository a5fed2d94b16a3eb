"""An HTTP request to a server, and the one to the address at the same server that it names instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from yarl import URL

from pytest_fcall.backends.openai.server_answer import ServerAnswer
from pytest_fcall.backends.redirects import WITHOUT_BODY, redirect_target

PLAIN_HEADERS: Mapping[str, str] = {
    "Accept": "application/json",
    "User-Agent": "pytest-fcall",
    "Content-Type": "application/json",
}
"""The headers of every request."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A POST of `body`, or a GET without one."""

    url: URL
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None

    def redirected(self, answer: ServerAnswer) -> HttpRequest:
        """The request to the address that an answer names. Raises RedirectError if nothing may be sent there."""
        url = redirect_target(self.url, answer.headers["location"])
        return replace(self, url=url, body=None if answer.status in WITHOUT_BODY else self.body)

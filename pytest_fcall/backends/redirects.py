"""Redirects: they are followed at the same server alone, since nothing that was meant for it is for another."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yarl import URL

MOST_REDIRECTS = 20
"""As many as the openai library follows."""
WITHOUT_BODY = frozenset({HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.FOUND, HTTPStatus.SEE_OTHER})
"""Redirects that make a GET of a POST, as browsers and the openai library do."""
REDIRECTS = WITHOUT_BODY | {HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT}
_SHOWN = 200


class RedirectError(Exception):
    """A redirect that is not followed. The text says where it leads."""


def redirect_target(url: URL, location: str) -> URL:
    """The address to which `location` in an answer of `url` leads. Raises RedirectError where that is another server.

    Scheme, host and port make a server.
    """
    from yarl import URL

    try:
        target = url.join(URL(location)).with_fragment(None)
        is_valid = target.scheme in ("http", "https") and bool(target.host)
        elsewhere = is_valid and target.origin() != url.origin()
    except ValueError:
        is_valid = elsewhere = False
    if not is_valid:
        raise RedirectError("a redirect has no valid address")
    if elsewhere:
        raise RedirectError(f"a redirect leads to {_shown(target)}, which is another server, so nothing was sent there")
    return target.with_user(None)


def _shown(url: URL) -> str:
    """The address without name, password and query, which may be secret."""
    text = str(url.with_user(None).with_query(None))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"

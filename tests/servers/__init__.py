"""An HTTP server on loopback that does to its clients what a test tells it to.

`Server` runs in a thread of its own, `Answer` is what it does for one request, and the functions beside it make the
answers that tests name: completions, faults of the provider, faults of the wire. The fixture `server` is one such
server for one test. `Proxy` is an HTTP proxy that stands before it.
"""

from tests.servers.answer import Answer, Asked, Responder
from tests.servers.completions import chat, responses
from tests.servers.faults import (
    broken,
    closed_unannounced,
    cut_off,
    dripping,
    dropped_when_reused,
    huge,
    invalid_utf8,
    not_openai,
    provider_error,
    refused_connection,
    reset,
    reset_mid_body,
    silent,
    throttled,
    truncated_json,
    web_page,
)
from tests.servers.proxy import Proxy
from tests.servers.server import LOOPBACK_CERTIFICATE, Server, echo

__all__ = [
    "LOOPBACK_CERTIFICATE",
    "Answer",
    "Asked",
    "Proxy",
    "Responder",
    "Server",
    "broken",
    "chat",
    "closed_unannounced",
    "cut_off",
    "dripping",
    "dropped_when_reused",
    "echo",
    "huge",
    "invalid_utf8",
    "not_openai",
    "provider_error",
    "refused_connection",
    "reset",
    "reset_mid_body",
    "responses",
    "silent",
    "throttled",
    "truncated_json",
    "web_page",
]

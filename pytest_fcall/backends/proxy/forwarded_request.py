"""One request of an app, to whatever interface: read, named by its digest, shown, and signed again for AWS."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex
from urllib.parse import quote, urlsplit

from pytest_fcall.backends.interfaces.interface import (
    BOOKKEEPING_FIELDS,
    NO_TOOLS,
    OfferedTools,
    WireInterface,
    read_offered_tools,
    without_long_data,
)
from pytest_fcall.backends.openai.answer_fields import mapping, text
from pytest_fcall.backends.recordings.answers import answer_fault, interface_of, may_hold_calls, model_of
from pytest_fcall.backends.recordings.entry import HttpAnswer
from pytest_fcall.backends.recordings.volatile import NOTHING_VOLATILE, LeftOut, Volatile
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core.app import AppExchange
from pytest_fcall.core.bounded_text import VolatileError
from pytest_fcall.core.digests import canonical, digest
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json

_BOUNDARY = re.compile(rb"--[^\r\n]{1,70}(?=\r\n)")
_UNNAMED = "(unnamed)"
"""Stands for the model where neither body nor path names one, as servers with one model allow."""
_TOOLS_PLACEHOLDER = token_hex(16)
"""Takes the place of the tools in JSON. Random, so that no request contains it."""


@dataclass(frozen=True, slots=True)
class ForwardedRequest:
    """One request of an app, to any interface."""

    method: str
    path: str
    """Below the address of the provider, with the query."""
    digest: str
    """Covers method, path and body; address, headers and keys are no part of it."""
    body: Json
    """The JSON value; for other content, its size in words."""
    model: str = ""
    """The name of the model, if a model is to answer and the request can be read."""
    interface: WireInterface | None = None
    """The interface, if a model is to answer."""
    offered: OfferedTools = NO_TOOLS
    """The tools of such a request, which are removed from `body`."""
    left_out: LeftOut = ()
    """The texts that patterns matched in it, which are no part of the digest."""

    def request(self, sample: int = 0) -> Request:
        """The Request that is shown and judged. `sample` is its number among equal requests."""
        try:
            if self.interface is not None and self.model:
                return self.interface.request(mapping(self.body), self.offered, sample)
            return _request_in_words(self.method, self.path, without_long_data(self.body), sample)
        except RecursionError:
            return _request_in_words(self.method, self.path, "a body that nests too deeply", sample)

    @property
    def priced_as(self) -> str:
        """The model's name in price lists."""
        return f"{self.interface.price_prefix}{self.model}" if self.interface and self.model else ""

    @property
    def bare_path(self) -> str:
        """The path without its query."""
        return self.path.partition("?")[0]

    @property
    def unread(self) -> str:
        """The bare path if an answer to it may hold calls that nobody reads; else empty."""
        return "" if self.model or not may_hold_calls(self.path) else self.bare_path

    def exchange(self, request: Request, reply: Reply, *, recorded: float | None = None, ended: float) -> AppExchange:
        """The request, as `request` shows it, with its reply."""
        return AppExchange(self.model, request, reply, self.priced_as, recorded, ended, self.unread)

    def may_end(self, stream: bytes) -> bool:
        """Whether a stream may end with or soon after these bytes. Without an interface, it may anywhere."""
        return self.interface is None or self.interface.end_of_stream.search(stream) is not None

    def answer_fault(self, answer: HttpAnswer) -> str:
        """The reason why an answer with a status below 400 is not whole; empty for one that is."""
        return answer_fault(self.interface, answer)


def read_forwarded_request(
    method: str, path: str, content: bytes, volatile: Volatile = NOTHING_VOLATILE
) -> ForwardedRequest:
    """Read any request. The digest covers JSON by its values without what is volatile, and other content by its bytes.

    Raises VolatileError where a pattern takes too long.
    """
    interface = interface_of(path) if method == "POST" else None
    try:
        body: Json = _STRICT_JSON.decode(content.decode(json.detect_encoding(content))) if content else None
        if not isinstance(body, dict):
            return ForwardedRequest(method, path, digest([method, path, body]), body, interface=interface)
        fields = {key: value for key, value in body.items() if key not in BOOKKEEPING_FIELDS}
        left, matched = volatile.left_out(fields) if volatile else (fields, ())
        if interface is None:
            return ForwardedRequest(method, path, digest([method, path, left]), body, left_out=matched)
        tools = read_offered_tools(body.pop(interface.tools_key, None), interface.tool_data)
        if matched:
            request_digest = digest([method, path, left])
        else:
            request_digest = _digest_with_tools(method, path, fields, interface.tools_key, tools)
    except VolatileError:
        raise
    except (ValueError, RecursionError):
        request_digest = digest([method, path, sha256(_without_boundary(content)).hexdigest()])
        return ForwardedRequest(method, path, request_digest, f"{len(content)} bytes", interface=interface)
    model = text(body.get("model")) or model_of(path) or _UNNAMED
    return ForwardedRequest(method, path, request_digest, body, model, interface, tools, matched)


def _digest_with_tools(method: str, path: str, fields: dict[str, Json], tools_key: str, tools: OfferedTools) -> str:
    """`digest([method, path, fields])`, with the JSON text of the tools that is already known."""
    if tools_key in fields:
        fields[tools_key] = _TOOLS_PLACEHOLDER
    json_text = canonical([method, path, fields]).replace(f'"{_TOOLS_PLACEHOLDER}"', tools.text, 1)
    return sha256(json_text.encode("ascii")).hexdigest()


def _without_boundary(content: bytes) -> bytes:
    """A multipart form without its boundary, which is another one each time."""
    boundary = _BOUNDARY.match(content)
    return content.replace(boundary[0], b"--") if boundary else content


def _request_in_words(method: str, path: str, body: Json, sample: int) -> Request:
    return Request(({"role": "user", "content": f"{method} {path}"},), (), without_secrets({"body": body}), sample)


def _refuse(constant: str) -> None:
    raise ValueError(f"it holds {constant}")


_STRICT_JSON = json.JSONDecoder(parse_constant=_refuse)
"""`json.loads` would make a decoder for each request."""


_Headers = Sequence[tuple[str, str]]

_ALGORITHM = "AWS4-HMAC-SHA256"
_AUTHORIZATION = re.compile(
    rf"{_ALGORITHM} Credential=(?P<id>[^/,\s]+)/(?P<scope>\d+/[^/,\s]+/[^/,\s]+/aws4_request), ?"
    r"SignedHeaders=(?P<names>[^,\s]+), ?Signature=[0-9a-f]+"
)
_ID, _SECRET = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"


class UnknownSecret(LookupError):
    """The key that a request was signed with is not known here. The text says what to do."""


def signed_for(url: str, method: str, headers: _Headers, content: bytes, environment: Mapping[str, str]) -> _Headers:
    """The headers with a signature for `url` instead of the app's own; as they are, if they have none.

    Raises UnknownSecret.
    """
    given = next((value for name, value in headers if name.lower() == "authorization"), "")
    signed = _AUTHORIZATION.fullmatch(given.strip())
    if signed is None:
        return headers
    secret = environment.get(_SECRET, "")
    if not secret or environment.get(_ID) != signed["id"]:
        raise UnknownSecret(
            f"requests to AWS are signed for one address, and to sign them again the proxy needs the key of the app in "
            f"{_ID} and {_SECRET} (`aws configure export-credentials --format env` prints them)"
        )
    scope, names = signed["scope"], signed["names"]
    parts = urlsplit(url)
    values = {name.lower(): value for name, value in headers} | {"host": parts.netloc}
    canonical = "\n".join(
        [
            method,
            quote(parts.path or "/", safe="/~"),
            "&".join(sorted(pair if "=" in pair else f"{pair}=" for pair in parts.query.split("&") if pair)),
            *(f"{name}:{' '.join(values.get(name, '').split())}" for name in names.split(";")),
            "",
            names,
            values.get("x-amz-content-sha256") or sha256(content).hexdigest(),
        ]
    )
    to_sign = "\n".join([_ALGORITHM, values.get("x-amz-date", ""), scope, sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    credential = f"{signed['id']}/{scope}"
    new = f"{_ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}"
    return [(name, new if name.lower() == "authorization" else value) for name, value in headers]

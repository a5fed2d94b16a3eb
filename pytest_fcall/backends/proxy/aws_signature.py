"""AWS signatures of forwarded requests: those of an app are for the address of the proxy, and count nowhere else."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from urllib.parse import quote, urlsplit

Headers = Sequence[tuple[str, str]]

_ALGORITHM = "AWS4-HMAC-SHA256"
_AUTHORIZATION = re.compile(
    rf"{_ALGORITHM} Credential=(?P<id>[^/,\s]+)/(?P<scope>\d+/[^/,\s]+/[^/,\s]+/aws4_request), ?"
    r"SignedHeaders=(?P<names>[^,\s]+), ?Signature=[0-9a-f]+"
)
_ID, _SECRET = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"


class UnknownSecret(LookupError):
    """The key that a request was signed with is not known here. The text says what to do."""


def signed_for(url: str, method: str, headers: Headers, content: bytes, environment: Mapping[str, str]) -> Headers:
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

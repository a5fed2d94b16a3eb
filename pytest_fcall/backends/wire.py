"""Replies as they came over the wire, for an app whose own library is to read them again."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcall.backends.fields import Damaged, as_mapping, optional, required
from pytest_fcall.core import Json


@dataclass(frozen=True, slots=True)
class Wire:
    """Status, type and body of an HTTP answer: every byte, but none of its other headers."""

    status: int
    content_type: str
    body: bytes

    def to_data(self) -> dict[str, Json]:
        """Say it in JSON values; a body that is no text is said in base64."""
        head: dict[str, Json] = {"status": self.status, "type": self.content_type}
        try:
            return {**head, "body": self.body.decode()}
        except UnicodeDecodeError:
            return {**head, "base64": b64encode(self.body).decode()}


def wire_from_data(data: Json) -> Wire:
    """Read what `to_data` wrote. Any other data is `Damaged`."""
    fields = as_mapping(data, "`wire`")
    status = required(fields, "status", int)
    if not 200 <= status <= 599:
        raise Damaged(f"`status` is {status}, which no answer has")
    return Wire(status, required(fields, "type", str), _body(fields))


def _body(fields: Mapping[str, Json]) -> bytes:
    try:
        encoded = optional(fields, "base64", str)
        return required(fields, "body", str).encode() if encoded is None else b64decode(encoded, validate=True)
    except UnicodeEncodeError:
        raise Damaged("`body` is no text") from None
    except Damaged:
        raise
    except ValueError:
        raise Damaged("`base64` is not what its name says") from None

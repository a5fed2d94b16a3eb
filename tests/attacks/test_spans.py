"""Hostile messages to the receiver of spans: refused with a sentence, told, and never the ground of a green case."""

from __future__ import annotations

import gzip
import http.client
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import NamedTuple

import pytest

from pytest_fcall.backends.spans.inbox import SpanInbox
from pytest_fcall.backends.spans.otlp import MOST_BYTES
from pytest_fcall.session.ask.proxy_endpoint import ProxyEndpoint
from tests.by_night import by_night

TRACE = "0a" * 16
PROTOBUF, JSON = "application/x-protobuf", "application/json"
SPAN = {"traceId": TRACE, "spanId": "0b" * 8, "name": "chat"}
WHOLE = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}).encode()


class Receiver:
    """A receiver that waits for the spans of one case."""

    def __init__(self, endpoint: ProxyEndpoint) -> None:
        endpoint.take_spans(over=False)
        assert endpoint.inbox is not None
        self.inbox: SpanInbox = endpoint.inbox
        self.inbox.open(TRACE, "oslo", wanted=True)
        self._host, self._group = endpoint.base(endpoint.runs.in_process).removeprefix("http://").split("/")

    def send(self, body: bytes, kind: str = JSON, *, method: str = "POST", token: str = "", **headers: str) -> int:
        with closing(http.client.HTTPConnection(self._host, timeout=60)) as connection:
            path = f"/{token or self._group}/OTEL_EXPORTER_OTLP_TRACES_ENDPOINT/v1/traces"
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, {"Content-Type": kind, **named})
            answer = connection.getresponse()
            answer.read()
            return answer.status

    def fault(self) -> str:
        return self.inbox.close(TRACE).fault


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with closing(ProxyEndpoint({}, replay=False)) as endpoint:
        yield Receiver(endpoint)


def nested(depth: int) -> bytes:
    """A span whose attribute holds a list in a list in a list, in protobuf."""
    value = b"\x0a\x01x"
    for _ in range(depth):
        inner = part(1, value)
        value = part(5, inner)
    attribute = part(1, b"a") + part(2, value)
    span = part(1, bytes.fromhex(TRACE)) + part(2, b"\x0b" * 8) + part(9, attribute)
    return part(1, part(2, part(2, span)))


def part(number: int, content: bytes) -> bytes:
    length, written = len(content), b""
    while length > 0x7F:
        written += bytes([length & 0x7F | 0x80])
        length >>= 7
    return bytes([number << 3 | 2]) + written + bytes([length]) + content


class Attack(NamedTuple):
    body: bytes | Callable[[], bytes]
    kind: str = JSON
    status: int = 400
    encoding: str = ""


def bomb() -> bytes:
    return gzip.compress(bytes(4 * MOST_BYTES))


ATTACKS = {
    "no_json": Attack(b"<html>"),
    "json_of_another_kind": Attack(b"[]"),
    "spans_that_are_no_list": Attack(b'{"resourceSpans": {"scopeSpans": 7}}'),
    "spans_that_are_numbers": Attack(b'{"resourceSpans": [{"scopeSpans": [{"spans": [7]}]}]}'),
    "span_without_ids": Attack(b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "x"}]}]}]}'),
    "deep_json": Attack(b"[" * 1_000_000),
    "json_with_a_huge_number": Attack(b'{"resourceSpans": ' + b"9" * 100_000 + b"}"),
    "no_utf8": Attack(b'{"resourceSpans": "\xff\xfe"}'),
    "no_protobuf": Attack(b"\xff" * 100, PROTOBUF),
    "json_as_protobuf": Attack(WHOLE, PROTOBUF),
    "protobuf_as_json": Attack(nested(1)),
    "deep_protobuf": Attack(nested(2_000), PROTOBUF),
    "part_longer_than_the_message": Attack(b"\x0a\xff\xff\xff\xff\x0f", PROTOBUF),
    "number_of_no_end": Attack(b"\x08" + b"\xff" * 50, PROTOBUF),
    "number_where_a_part_belongs": Attack(b"\x08\x01", PROTOBUF),
    "too_many_fields": Attack(part(1, b"\x18\x01" * 1_100_000), PROTOBUF),
    "too_large": Attack(bytes(MOST_BYTES + 1), PROTOBUF, 413),
    "gzip_that_unpacks_to_much": Attack(bomb, PROTOBUF, 413, "gzip"),
    "gzip_that_is_none": Attack(WHOLE, JSON, 400, "gzip"),
    "deflate_that_is_none": Attack(WHOLE, JSON, 400, "deflate"),
    "grpc": Attack(bytes(5), "application/grpc", 415),
    "a_form": Attack(b"a=b", "application/x-www-form-urlencoded", 415),
}


SLOW = {"too_many_fields"}


@pytest.mark.parametrize("name", [by_night(name) if name in SLOW else name for name in ATTACKS])
def test_a_hostile_message_is_refused_and_the_next_one_is_read(receiver: Receiver, name: str) -> None:
    attack = ATTACKS[name]
    headers = {"Content_Encoding": attack.encoding} if attack.encoding else {}
    body = attack.body if isinstance(attack.body, bytes) else attack.body()
    assert receiver.send(body, attack.kind, **headers) == attack.status
    assert receiver.send(WHOLE) == 200
    assert receiver.inbox.strays == {("", ""): 1}
    assert "could not be read" in receiver.fault()


@pytest.mark.parametrize(
    ("body", "encoding"),
    [(WHOLE, ""), (gzip.compress(WHOLE), "gzip"), (zlib.compress(WHOLE), "deflate")],
    ids=["plain", "gzip", "deflate"],
)
def test_what_exporters_send_is_read_packed_or_not(receiver: Receiver, body: bytes, encoding: str) -> None:
    assert receiver.send(body, **({"Content_Encoding": encoding} if encoding else {})) == 200
    assert receiver.send(nested(3), PROTOBUF) == 200
    assert len(receiver.inbox.close(TRACE).spans) == 1
    assert not receiver.inbox.strays


def test_who_does_not_know_the_address_sends_nothing(receiver: Receiver) -> None:
    assert receiver.send(WHOLE, token="00" * 16) == 400
    assert receiver.send(b"", method="GET") == 405
    assert not receiver.inbox.close(TRACE).spans

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from pytest_fcall.backends.spans.otlp import OtlpError, ReceivedSpan, spans_in_json, spans_in_protobuf

TRACE, ID, PARENT = bytes(range(16)), b"\x01" * 8, b"\x02" * 8


def attribute(name: str, **value: object) -> KeyValue:
    return KeyValue(key=name, value=AnyValue(**value))  # type: ignore[arg-type]


def message(*attributes: KeyValue, parent: bytes = PARENT) -> bytes:
    span = Span(
        trace_id=TRACE,
        span_id=ID,
        parent_span_id=parent,
        trace_state="a=b",
        name="execute_tool get_weather",
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=2**63,
        end_time_unix_nano=2**63 + 5,
        attributes=attributes,
        events=[Span.Event(name="said", attributes=[attribute("x", int_value=1)])],
        links=[Span.Link(trace_id=TRACE, span_id=ID)],
        status=Status(message="no such city", code=Status.STATUS_CODE_ERROR),
        flags=257,
    )
    resource = Resource(attributes=[attribute("service.name", string_value="shop")])
    spans = ResourceSpans(scope_spans=[ScopeSpans(spans=[span], schema_url="x")], resource=resource)
    written: bytes = ExportTraceServiceRequest(resource_spans=[spans]).SerializeToString()
    return written


def test_a_span_in_protobuf_is_read_with_all_kinds_of_values() -> None:
    values = AnyValue(array_value=ArrayValue(values=[AnyValue(string_value="a"), AnyValue(int_value=2)]))
    whole = message(
        attribute("text", string_value="Grüße"),
        attribute("yes", bool_value=True),
        attribute("below", int_value=-3),
        attribute("half", double_value=0.5),
        KeyValue(key="list", value=values),
        attribute("map", kvlist_value=KeyValueList(values=[attribute("inner", string_value="b")])),
        attribute("bytes", bytes_value=b"\xff"),
        KeyValue(key="nothing"),
    )
    (span,) = spans_in_protobuf(whole)
    assert span[:6] == (TRACE.hex(), ID.hex(), PARENT.hex(), "shop", 2**63, 2**63 + 5)
    assert span.data == {
        "name": "execute_tool get_weather",
        "status": {"code": 2},
        "attributes": {
            "text": "Grüße",
            "yes": True,
            "below": -3,
            "half": 0.5,
            "list": ["a", 2],
            "map": {"inner": "b"},
            "bytes": "ff",
            "nothing": None,
        },
    }


@pytest.mark.parametrize("parent", [b"", bytes(8)])
def test_a_span_that_begins_a_trace_has_no_parent(parent: bytes) -> None:
    (span,) = spans_in_protobuf(message(parent=parent))
    assert span.parent == ""


def test_a_span_in_json_is_read() -> None:
    told = {"traceId": TRACE.hex().upper(), "spanId": ID.hex(), "name": "chat", "startTimeUnixNano": "7"}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    whole = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [told]}]}]}
    assert spans_in_json(json.dumps(whole).encode()) == [
        ReceivedSpan(TRACE.hex(), ID.hex(), "", "shop", 7, 0, told),
    ]


def test_a_message_without_spans_has_none() -> None:
    assert spans_in_protobuf(b"") == spans_in_json(b"{}") == []


@given(st.binary(max_size=200))
@settings(max_examples=300)
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for read in (spans_in_protobuf, spans_in_json):
        try:
            read(content)
        except OtlpError:
            continue


WHOLE = message(attribute("text", string_value="Oslo"), attribute("below", int_value=-3))


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 255))
@settings(max_examples=300)
def test_a_damaged_message_is_read_or_refused(place: int, byte: int) -> None:
    damaged = WHOLE[:place] + bytes([byte]) + WHOLE[place + 1 :]
    for content in (damaged, WHOLE[:place]):
        try:
            spans_in_protobuf(content)
        except OtlpError:
            continue

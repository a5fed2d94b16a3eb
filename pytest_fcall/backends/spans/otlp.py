"""Spans in OTLP, the format of OpenTelemetry's exporters over HTTP: as protobuf, and as JSON.

Nothing in a message is trusted: one that is damaged, or larger than any exporter sends, raises OtlpError.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from pytest_fcall.core.json_data import read_json
from pytest_fcall.core.values import Json

MOST_BYTES: Final = 16 * 2**20
"""Of a message, unpacked. Exporters send a few hundred spans at a time."""
_MOST_FIELDS: Final = 1_000_000
_MOST_SPANS: Final = 50_000
_DEEPEST: Final = 64
"""Of values within values. What exporters flatten is JSON text in one value."""


class OtlpError(ValueError):
    """A message is not OTLP, or is damaged. The text says what is wrong, without a full stop."""


class ReceivedSpan(NamedTuple):
    """A span as it came."""

    trace: str
    """The id of its trace, in lowercase hexadecimal digits, like all ids here."""
    id: str
    parent: str
    """Empty for a span that begins a trace."""
    service: str
    """The name of the program, as it names itself."""
    start: int
    end: int
    """In nanoseconds since 1970."""
    data: Mapping[str, Json]
    """`name`, `status` and `attributes`, in the forms of OTLP's JSON; attributes may be plain values by their names."""


def spans_in_json(content: bytes) -> list[ReceivedSpan]:
    """The spans of an ExportTraceServiceRequest in JSON. Raises OtlpError."""
    try:
        whole = read_json(content)
    except ValueError as error:
        raise OtlpError(str(error)) from None
    if not isinstance(whole, Mapping):
        raise OtlpError("JSON that is no mapping")
    spans: list[ReceivedSpan] = []
    for resource in _mappings(whole, "resourceSpans"):
        service = _service_in_json(resource)
        for scope in _mappings(resource, "scopeSpans"):
            spans += (_span_in_json(span, service) for span in _mappings(scope, "spans"))
    return _bounded(spans)


def _span_in_json(span: Mapping[str, Json], service: str) -> ReceivedSpan:
    trace, own = _id_in_json(span, "traceId"), _id_in_json(span, "spanId")
    if not trace or not own:
        raise OtlpError("a span without an id")
    start, end = (_nanoseconds(span.get(name)) for name in ("startTimeUnixNano", "endTimeUnixNano"))
    return ReceivedSpan(trace, own, _id_in_json(span, "parentSpanId"), service, start, end, span)


def _id_in_json(span: Mapping[str, Json], name: str) -> str:
    value = span.get(name)
    return value.strip("0") and value.lower() if isinstance(value, str) else ""


def _nanoseconds(value: Json) -> int:
    """64 bits are text in JSON; some exporters write a number."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _service_in_json(resource: Mapping[str, Json]) -> str:
    described = resource.get("resource")
    for pair in _mappings(described, "attributes") if isinstance(described, Mapping) else ():
        value = pair.get("value")
        if pair.get("key") == "service.name" and isinstance(value, Mapping):
            name = value.get("stringValue")
            return name if isinstance(name, str) else ""
    return ""


def _mappings(data: Mapping[str, Json], name: str) -> Iterator[Mapping[str, Json]]:
    found = data.get(name)
    if found is None:
        return
    if not isinstance(found, list) or not all(isinstance(each, Mapping) for each in found):
        raise OtlpError(f"`{name}` is no list of mappings")
    yield from found


def _bounded(spans: list[ReceivedSpan]) -> list[ReceivedSpan]:
    if len(spans) > _MOST_SPANS:
        raise OtlpError(f"more than {_MOST_SPANS:,} spans in a message")
    return spans


def spans_in_protobuf(content: bytes) -> list[ReceivedSpan]:
    """The spans of an ExportTraceServiceRequest in protobuf. Raises OtlpError."""
    reader = _Reader(content)
    spans: list[ReceivedSpan] = []
    for number, resource in reader.fields(0, len(content)):
        if number == 1:
            spans += reader.resource_spans(*_part(resource))
    return _bounded(spans)


_Part: TypeAlias = tuple[int, int]
"""The places at which a field of bytes begins and ends."""
_VARINT, _64_BITS, _BYTES, _32_BITS = 0, 1, 2, 5


def _part(value: int | _Part) -> _Part:
    if isinstance(value, int):
        raise OtlpError("a number where a part was expected")
    return value


def _number(value: int | _Part) -> int:
    if not isinstance(value, int):
        raise OtlpError("a part where a number was expected")
    return value


class _Reader:
    """Reads fields of protobuf by their numbers in OTLP's messages. Unknown fields are passed over, as always there."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._fields_left = _MOST_FIELDS
        self._values: Mapping[int, Callable[[int | _Part, int], Json]] = {
            1: lambda value, _: self._text(_part(value)),
            2: lambda value, _: bool(_number(value)),
            3: lambda value, _: _signed(_number(value)),
            4: lambda value, _: struct.unpack("<d", struct.pack("<Q", _number(value)))[0],
            5: lambda value, depth: [
                self._value(*_part(each), depth + 1) for number, each in self.fields(*_part(value)) if number == 1
            ],
            6: lambda value, depth: self._attributes(_part(value), 1, depth + 1),
            7: lambda value, _: self._content[slice(*_part(value))].hex(),
        }

    def fields(self, place: int, end: int) -> Iterator[tuple[int, int | _Part]]:
        """The fields between two places: numbers, and where parts begin and end."""
        while place < end:
            self._fields_left -= 1
            if self._fields_left < 0:
                raise OtlpError(f"more than {_MOST_FIELDS:,} fields in a message")
            key, place = self._varint(place, end)
            number, kind = key >> 3, key & 7
            if kind == _VARINT:
                value, place = self._varint(place, end)
                yield number, value
                continue
            length = {_64_BITS: 8, _32_BITS: 4}.get(kind)
            if kind == _BYTES:
                length, place = self._varint(place, end)
            if length is None:
                raise OtlpError(f"a field of the unknown kind {kind}")
            if length > end - place:
                raise OtlpError("a field that goes beyond its end")
            if kind == _BYTES:
                yield number, (place, place + length)
            else:
                yield number, int.from_bytes(self._content[place : place + length], "little")
            place += length

    def resource_spans(self, place: int, end: int) -> Iterator[ReceivedSpan]:
        """The spans of one program."""
        service, scopes = "", []
        for number, value in self.fields(place, end):
            if number == 1:
                name = self._attributes(_part(value), 1, 0).get("service.name")
                service = name if isinstance(name, str) else ""
            elif number == 2:
                scopes.append(_part(value))
        for scope in scopes:
            for number, value in self.fields(*scope):
                if number == 2:
                    yield self._span(_part(value), service)

    def _span(self, part: _Part, service: str) -> ReceivedSpan:
        ids = dict.fromkeys((1, 2, 4), "")
        times = dict.fromkeys((7, 8), 0)
        data: dict[str, Json] = {}
        for number, value in self.fields(*part):
            if number in ids:
                written = self._content[slice(*_part(value))]
                ids[number] = written.hex() if any(written) else ""
            elif number in times:
                times[number] = _number(value)
            elif number == 5:
                data["name"] = self._text(_part(value))
            elif number == 15:
                code = [_number(each) for number, each in self.fields(*_part(value)) if number == 3]
                data["status"] = {"code": code[-1]} if code else {}
        data["attributes"] = self._attributes(part, 9, 0)
        if not ids[1] or not ids[2]:
            raise OtlpError("a span without an id")
        return ReceivedSpan(ids[1], ids[2], ids[4], service, times[7], times[8], data)

    def _attributes(self, part: _Part, wanted: int, depth: int) -> dict[str, Json]:
        """The values by their names, of the fields of this number."""
        found: dict[str, Json] = {}
        for number, value in self.fields(*part):
            if number != wanted:
                continue
            name, content = "", (0, 0)
            for inner, each in self.fields(*_part(value)):
                if inner == 1:
                    name = self._text(_part(each))
                elif inner == 2:
                    content = _part(each)
            found[name] = self._value(*content, depth)
        return found

    def _value(self, place: int, end: int, depth: int) -> Json:
        if depth > _DEEPEST:
            raise OtlpError("a value that is nested too deeply")
        value: Json = None
        for number, each in self.fields(place, end):
            if read := self._values.get(number):
                value = read(each, depth)
        return value

    def _text(self, part: _Part) -> str:
        return self._content[slice(*part)].decode("utf-8", "replace")

    def _varint(self, place: int, end: int) -> tuple[int, int]:
        value = 0
        for shift in range(0, 70, 7):
            if place >= end:
                raise OtlpError("a number that goes beyond its end")
            byte = self._content[place]
            place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFF_FFFF_FFFF_FFFF, place
        raise OtlpError("a number of more than 64 bits")


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value

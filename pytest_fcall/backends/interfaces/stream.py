"""Streams of answers: the JSON objects in server-sent events, lines of JSON, a JSON array or AWS frames."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from zlib import crc32

from pytest_fcall.backends.http_answers import MOST_VALUES, holds_too_many_values, parse_json
from pytest_fcall.core.values import Json

Body = Mapping[str, Json]

EVENT_STREAM: Final = "text/event-stream"
AWS_EVENT_STREAM: Final = "application/vnd.amazon.eventstream"
LINES: Final = ("application/x-ndjson", "application/jsonl", "application/x-jsonlines")
_DONE: Final = "[DONE]"
_PRELUDE: Final = struct.Struct(">III")
_AWS_TEXT: Final = 7
"""The type of a header whose value is a text."""


@dataclass(frozen=True, slots=True)
class Stream:
    """The events of a stream, as far as they can be read."""

    events: tuple[Body, ...]
    fault: str = ""
    """The fault of the first event that is damaged; empty if all are whole."""
    done: bool = False
    """Whether it says `[DONE]`."""


def media_type(content_type: str) -> str:
    """The type that a header `Content-Type` names, without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def is_stream(content_type: str) -> bool:
    """Whether answers of this type arrive event by event."""
    return media_type(content_type) in _FRAMINGS


def read_stream(content_type: str, body: bytes) -> Stream:
    """The events of a body whose type `is_stream`."""
    if holds_too_many_values(body):
        return Stream((), f"there are more than {MOST_VALUES:,} values")
    return _FRAMINGS[media_type(content_type)](body)


def stream_of_array(items: list[Json]) -> Stream:
    """A stream in the form of one JSON array."""
    events = tuple(item for item in items if isinstance(item, Mapping))
    return Stream(events, "" if len(events) == len(items) else "it holds an event that is not a JSON object")


def read_events(body: bytes) -> Stream:
    """Read server-sent events. Comments and events without data say nothing."""
    events: list[Body] = []
    fault, done = _encoding_fault(body), False
    text = body.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    for block in text.split("\n\n"):
        data = "\n".join(line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:"))
        if data.strip() == _DONE:
            done = True
        elif data.strip():
            event = _object(data)
            if event is None:
                fault = fault or "an event is not a whole JSON object"
            else:
                events.append(event)
    return Stream(tuple(events), fault, done)


def _read_lines(body: bytes) -> Stream:
    lines = [line for line in body.decode(errors="replace").split("\n") if line.strip()]
    events = [_object(line) for line in lines]
    whole = tuple(event for event in events if event is not None)
    fault = "" if len(whole) == len(events) else "a line is not a whole JSON object"
    return Stream(whole, _encoding_fault(body) or fault)


def _encoding_fault(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} is not UTF-8"
    return ""


def _object(text: str) -> Body | None:
    try:
        value = parse_json(text)
    except ValueError:
        return None
    return value if isinstance(value, Mapping) else None


def _read_frames(body: bytes) -> Stream:
    """Read AWS event-stream messages: each event is `{TYPE: payload}`, an exception `{"error": …}`."""
    events: list[Body] = []
    try:
        for headers, payload in _frames(body):
            value = _object(payload.decode()) if payload else {}
            if value is None:
                return Stream(tuple(events), "a frame holds no JSON object")
            if headers.get(":message-type", "event") == "event":
                events.append({headers.get(":event-type", ""): value})
            else:
                kind = headers.get(":exception-type") or headers.get(":error-code") or "exception"
                events.append({"error": {"type": kind, **value}})
    except (ValueError, struct.error, IndexError):
        return Stream(tuple(events), "a frame is damaged or cut short")
    return Stream(tuple(events))


def _frames(body: bytes) -> Iterator[tuple[dict[str, str], bytes]]:
    """Headers and payload of each frame. Raises ValueError, struct.error and IndexError for a damaged one."""
    at = 0
    while at < len(body):
        length, header_length, prelude_sum = _PRELUDE.unpack_from(body, at)
        end = at + length
        start = at + _PRELUDE.size
        if end > len(body) or start + header_length > end - 4 or crc32(body[at : at + 8]) != prelude_sum:
            raise ValueError("damaged frame")
        if crc32(body[at : end - 4]) != int.from_bytes(body[end - 4 : end], "big"):
            raise ValueError("damaged frame")
        yield _frame_headers(body[start : start + header_length]), body[start + header_length : end - 4]
        at = end


def _frame_headers(data: bytes) -> dict[str, str]:
    """The headers of a frame, up to the first one that is no text: what counts here are texts, which come first."""
    headers: dict[str, str] = {}
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        if data[name_end] != _AWS_TEXT:
            break
        (length,) = struct.unpack_from(">H", data, name_end + 1)
        value_end = name_end + 3 + length
        headers[data[at + 1 : name_end].decode()] = data[name_end + 3 : value_end].decode()
        at = value_end
    return headers


_FRAMINGS: Mapping[str, Callable[[bytes], Stream]] = MappingProxyType(
    {EVENT_STREAM: read_events, AWS_EVENT_STREAM: _read_frames, **dict.fromkeys(LINES, _read_lines)}
)

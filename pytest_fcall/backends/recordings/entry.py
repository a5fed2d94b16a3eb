"""One recorded reply, in memory and as JSON; and all recordings of a case file."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

from pytest_fcall.core.case import Fault
from pytest_fcall.core.json_data import (
    DamagedData,
    as_mapping,
    optional_field,
    optional_list_of_strings,
    optional_number,
    required_field,
)
from pytest_fcall.core.reply import Finish, RawCall, Reply, Usage
from pytest_fcall.core.request import Request
from pytest_fcall.core.secrets import LEFT_OUT
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.core.app import AppSpans

BISECTED: Final = " (bisect)"
"""Ends the name of a case under which answers to versions of its question are kept. They are not exported."""


class HttpAnswer(NamedTuple):
    """Status, type and body of an HTTP answer: every byte of the body, none of the other headers."""

    status: int
    content_type: str
    body: bytes

    def to_data(self) -> dict[str, Json]:
        """The answer as JSON data; a body that is not UTF-8 text is encoded in base64."""
        head: dict[str, Json] = {"status": self.status, "type": self.content_type}
        try:
            return {**head, "body": self.body.decode()}
        except UnicodeDecodeError:
            return {**head, "base64": b64encode(self.body).decode()}


def http_answer_from_data(data: Json) -> HttpAnswer:
    """Read what `HttpAnswer.to_data` returned. Raises DamagedData for other data."""
    fields = as_mapping(data, "`wire`")
    status = required_field(fields, "status", int)
    if not 200 <= status <= 599:
        raise DamagedData(f"`status` is {status}, which is not the status of an answer")
    return HttpAnswer(status, required_field(fields, "type", str), _body(fields))


def _body(fields: Mapping[str, Json]) -> bytes:
    encoded = optional_field(fields, "base64", str)
    try:
        return required_field(fields, "body", str).encode() if encoded is None else b64decode(encoded, validate=True)
    except UnicodeEncodeError:
        raise DamagedData("`body` is not valid text") from None
    except DamagedData:
        raise
    except ValueError:
        raise DamagedData("`base64` is not valid base64") from None


class UnreadRecording(NamedTuple):
    """The HTTP answer that an app received. The Reply in it is read when it is needed."""

    case: str
    digest: str
    request: Request
    path: str
    """The path of the request below the provider's address. It decides how the answer is read."""
    http_answer: HttpAnswer
    seconds: float | None
    recorded: str

    @property
    def timestamp(self) -> float:
        """The time of the recording, in seconds since 1970; 0 if unknown."""
        return _timestamp(self.recorded)


class Recording(NamedTuple):
    """A reply, the request that it answers, and when it was recorded."""

    case: str
    digest: str
    request: Request
    reply: Reply
    recorded: str
    """ISO date and time."""
    http_answer: HttpAnswer | None = None
    """For a request that an app sent itself: the answer as the app's library expects it again."""

    @property
    def lacks_secret(self) -> bool:
        """Whether a secret was left out of what may be judged: then it is not the answer that was given."""
        reply = self.reply
        if LEFT_OUT in reply.text or (reply.refusal and LEFT_OUT in reply.refusal):
            return True
        return any(LEFT_OUT in f"{call.name} {call.arguments}" for call in reply.tool_calls)

    @property
    def timestamp(self) -> float:
        """The time of the recording, in seconds since 1970; 0 if unknown."""
        return _timestamp(self.recorded)


def _timestamp(recorded: str) -> float:
    try:
        return datetime.fromisoformat(recorded).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


class Recordings:
    """All recordings for the cases of one file, in memory. Immutable."""

    def __init__(
        self, entries: Iterable[Recording] = (), faults: Iterable[Fault] = (), model: str | None = None
    ) -> None:
        self.entries = tuple(entries)
        self.faults = tuple(faults)
        self.model = model
        """The id of the model that gave the replies, if the file names it."""
        self._by_digest: dict[str, Recording] = {}
        self._by_case: dict[str, list[Recording]] = {}
        for entry in self.entries:
            self._by_case.setdefault(entry.case, []).append(entry)
            other = self._by_digest.setdefault(entry.digest, entry)
            if other is not entry and other.timestamp < entry.timestamp:
                self._by_digest[entry.digest] = entry

    def find(self, digest: str) -> Recording | None:
        """Return the newest recording of the request with this digest."""
        return self._by_digest.get(digest)

    def nearest(self, case: str, sample: int = 0) -> Recording | None:
        """Return a recording of this case for another request, preferably of the same sample."""
        return min(self._by_case.get(case, ()), key=lambda entry: abs(entry.request.sample - sample), default=None)


_CALL_FIELDS = ("name", "arguments", "id", "extra")
_TOKEN_FIELDS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


def reply_to_data(reply: Reply) -> dict[str, Json]:
    """The reply as JSON data, without the fields that are unset."""
    data: dict[str, Json] = {"text": reply.text}
    if reply.tool_calls:
        data["tool_calls"] = [_field_values(call, _CALL_FIELDS) for call in reply.tool_calls]
    data |= _field_values(reply, ("finish", "refusal", "malformed", "decoder"))
    if reply.extra is not None:
        data["extra"] = dict(reply.extra)
    if reply.usage:
        data["usage"] = _usage_to_data(reply.usage)
    if reply.seconds is not None:
        data["seconds"] = reply.seconds
    if reply.trail:
        data["trail"] = [dict(message) for message in reply.trail]
    if reply.spans and (spans := spans_to_data(reply.spans)) is not None:
        data["spans"] = spans
    if reply.engine:
        data["engine"] = dict(reply.engine)
    return data


def _usage_to_data(usage: Usage) -> dict[str, Json]:
    counts = _field_values(usage, _TOKEN_FIELDS)
    return counts if usage.batched is None else {**counts, "batched": _usage_to_data(usage.batched)}


def spans_to_data(spans: AppSpans) -> dict[str, Json] | None:
    """The facts of spans as JSON data; None where they could not be judged, as a replay can judge them no better."""
    if spans.fault:
        return None
    tools: list[Json] = [_without_none({"name": tool.name, "arguments": tool.arguments}) for tool in spans.tools]
    return {"tools": tools, "models": list(spans.models)}


def _spans_from_data(data: Json) -> AppSpans:
    from pytest_fcall.core.app import AppSpans, RanTool

    fields = as_mapping(data, "`spans`")
    tools = [as_mapping(each, "a tool of `spans`") for each in required_field(fields, "tools", list)]
    ran = tuple(RanTool(required_field(each, "name", str), optional_field(each, "arguments", dict)) for each in tools)
    return AppSpans(ran, tuple(optional_list_of_strings(fields, "models")))


def _field_values(data: RawCall | Usage | Reply, names: Iterable[str]) -> dict[str, Json]:
    """The fields of these names. `asdict` would copy their values."""
    return {name: value for name in names if (value := getattr(data, name)) is not None}


def _without_none(data: Mapping[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in data.items() if value is not None}


_REPLY_FIELDS: Mapping[str, type] = MappingProxyType(
    {"text": str, "refusal": str, "malformed": str, "decoder": str, "extra": dict, "engine": dict}
)
_FINISHES = frozenset(get_args(Finish))


def reply_from_data(data: Json) -> Reply:
    """Read what `reply_to_data` returned, ignoring unknown fields. Raises DamagedData for other data."""
    fields = as_mapping(data, "the reply")
    # Only the fields that are present: most of the time that is three or four of eleven.
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if value is None:
            continue
        if kind := _REPLY_FIELDS.get(name):
            values[name] = optional_field(fields, name, kind)
        elif name == "finish":
            values[name] = value if required_field(fields, name, str) in _FINISHES else "unknown"
        elif name == "tool_calls":
            values[name] = tuple(_raw_call(call) for call in required_field(fields, name, list))
        elif name == "usage":
            values[name] = _usage(value)
        elif name == "seconds":
            values[name] = optional_number(fields, name)
        elif name == "spans":
            values[name] = _spans_from_data(value)
        elif name == "trail":
            values[name] = tuple(
                as_mapping(message, "a message of `trail`") for message in required_field(fields, name, list)
            )
    return Reply(**values)


def _raw_call(data: Json) -> RawCall:
    fields = as_mapping(data, "a call of `tool_calls`")
    return RawCall(
        fields.get("name"),
        fields.get("arguments"),
        optional_field(fields, "id", str),
        optional_field(fields, "extra", dict),
    )


def _usage(data: Json) -> Usage:
    fields = as_mapping(data, "`usage`")
    batched = None if fields.get("batched") is None else _usage(fields["batched"])
    return Usage(**{name: optional_field(fields, name, int) for name in _TOKEN_FIELDS}, batched=batched)

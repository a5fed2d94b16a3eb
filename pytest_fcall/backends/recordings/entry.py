"""One recorded reply, in memory and as JSON; and all recordings of a case file."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from types import MappingProxyType
from typing import cast, get_args

from pytest_fcall.core import Fault, Finish, Json, RawCall, Reply, Request, Usage
from pytest_fcall.core.json_fields import DamagedData, as_mapping, optional_field, optional_number, required_field


@dataclass(frozen=True, slots=True)
class HttpAnswer:
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


def http_answer_from_data(data: Json) -> HttpAnswer:
    """Read what `to_data` wrote. Any other data is `Damaged`."""
    fields = as_mapping(data, "`wire`")
    status = required_field(fields, "status", int)
    if not 200 <= status <= 599:
        raise DamagedData(f"`status` is {status}, which no answer has")
    return HttpAnswer(status, required_field(fields, "type", str), _body(fields))


def _body(fields: Mapping[str, Json]) -> bytes:
    try:
        encoded = optional_field(fields, "base64", str)
        return required_field(fields, "body", str).encode() if encoded is None else b64decode(encoded, validate=True)
    except UnicodeEncodeError:
        raise DamagedData("`body` is no text") from None
    except DamagedData:
        raise
    except ValueError:
        raise DamagedData("`base64` is not what its name says") from None


@dataclass(frozen=True, slots=True)
class UnreadRecording:
    """An answer that an app was given, before anybody has looked what it says."""

    case: str
    digest: str
    request: Request
    path: str
    """What was asked for, below the address of the provider: it tells how the answer is read."""
    wire: HttpAnswer
    seconds: float | None
    recorded: str

    @property
    def moment(self) -> float:
        """When it was given, in seconds since 1970."""
        return _timestamp(self.recorded)


@dataclass(frozen=True, slots=True)
class Recording:
    """A reply, what it answers, and when it was given."""

    case: str
    digest: str
    request: Request
    reply: Reply
    recorded: str
    """ISO date and time."""
    wire: HttpAnswer | None = None
    """Of what an app asked by itself: the reply as its library will want it again."""

    @property
    def moment(self) -> float:
        """When it was recorded, in seconds since 1970; 0 where that is not said."""
        return _timestamp(self.recorded)


class Recordings:
    """What is recorded for the cases of one file. Never changes; asking costs nothing."""

    def __init__(
        self, entries: Iterable[Recording] = (), faults: Iterable[Fault] = (), model: str | None = None
    ) -> None:
        self.entries = tuple(entries)
        self.faults = tuple(faults)
        self.model = model
        """The id of the model whose replies these are, where the file names it."""
        self._by_digest = {entry.digest: entry for entry in reversed(self.entries)}
        self._by_case: dict[str, list[Recording]] = {}
        for entry in self.entries:
            self._by_case.setdefault(entry.case, []).append(entry)

    def find(self, digest: str) -> Recording | None:
        """Return the reply to the request of this digest."""
        return self._by_digest.get(digest)

    def nearest(self, case: str, sample: int = 0) -> Recording | None:
        """Return what was recorded for this case when it asked something else, best of the same sample."""
        return min(self._by_case.get(case, ()), key=lambda entry: abs(entry.request.sample - sample), default=None)


def _timestamp(recorded: str) -> float:
    try:
        return datetime.fromisoformat(recorded).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def reply_to_data(reply: Reply) -> dict[str, Json]:
    """Say `reply` in JSON values; what is unset is left out."""
    return _without_none(
        {
            "text": reply.text,
            "tool_calls": [_field_values(call) for call in reply.tool_calls] or None,
            "finish": reply.finish,
            "refusal": reply.refusal,
            "malformed": reply.malformed,
            "decoder": reply.decoder,
            "extra": None if reply.extra is None else dict(reply.extra),
            "usage": _field_values(reply.usage) if reply.usage else None,
            "seconds": reply.seconds,
            "trail": [dict(message) for message in reply.trail] or None,
            "engine": dict(reply.engine) or None,
        }
    )


_FIELD_NAMES = MappingProxyType({kind: tuple(field.name for field in fields(kind)) for kind in (RawCall, Usage)})


def _field_values(data: RawCall | Usage) -> dict[str, Json]:
    """The fields by their names. `asdict` would copy all that is in them."""
    return _without_none({name: getattr(data, name) for name in _FIELD_NAMES[type(data)]})


def reply_from_data(data: Json) -> Reply:
    """Read what `reply_to_data` wrote, unknown fields aside. Any other data is `Damaged`, never half a reply."""
    fields = as_mapping(data, "the reply")
    finish = optional_field(fields, "finish", str) or "stop"
    return Reply(
        text=optional_field(fields, "text", str) or "",
        tool_calls=tuple(_raw_call(call) for call in optional_field(fields, "tool_calls", list) or ()),
        finish=cast("Finish", finish) if finish in get_args(Finish) else "unknown",
        refusal=optional_field(fields, "refusal", str),
        malformed=optional_field(fields, "malformed", str),
        decoder=optional_field(fields, "decoder", str),
        extra=optional_field(fields, "extra", dict),
        usage=_usage(fields["usage"]) if fields.get("usage") is not None else None,
        seconds=optional_number(fields, "seconds"),
        trail=tuple(
            as_mapping(message, "a message of `trail`") for message in optional_field(fields, "trail", list) or ()
        ),
        engine=optional_field(fields, "engine", dict) or {},
    )


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
    return Usage(
        input_tokens=optional_field(fields, "input_tokens", int),
        output_tokens=optional_field(fields, "output_tokens", int),
        cached_tokens=optional_field(fields, "cached_tokens", int),
        reasoning_tokens=optional_field(fields, "reasoning_tokens", int),
    )


def _without_none(data: Mapping[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in data.items() if value is not None}

"""Replies as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import cast, get_args

from pytest_fcall.backends.fields import as_mapping, optional, optional_number
from pytest_fcall.core import Finish, Json, RawCall, Reply, Usage


def reply_to_data(reply: Reply) -> dict[str, Json]:
    """Say `reply` in JSON values; what is unset is left out."""
    return _given(
        {
            "text": reply.text,
            "tool_calls": [_flat(call) for call in reply.tool_calls] or None,
            "finish": reply.finish,
            "refusal": reply.refusal,
            "malformed": reply.malformed,
            "decoder": reply.decoder,
            "extra": None if reply.extra is None else dict(reply.extra),
            "usage": _flat(reply.usage) if reply.usage else None,
            "seconds": reply.seconds,
            "trail": [dict(message) for message in reply.trail] or None,
            "engine": dict(reply.engine) or None,
        }
    )


_NAMES = MappingProxyType({kind: tuple(field.name for field in fields(kind)) for kind in (RawCall, Usage)})


def _flat(data: RawCall | Usage) -> dict[str, Json]:
    """The fields by their names. `asdict` would copy all that is in them."""
    return _given({name: getattr(data, name) for name in _NAMES[type(data)]})


def reply_from_data(data: Json) -> Reply:
    """Read what `reply_to_data` wrote, unknown fields aside. Any other data is `Damaged`, never half a reply."""
    fields = as_mapping(data, "the reply")
    finish = optional(fields, "finish", str) or "stop"
    return Reply(
        text=optional(fields, "text", str) or "",
        tool_calls=tuple(_raw_call(call) for call in optional(fields, "tool_calls", list) or ()),
        finish=cast("Finish", finish) if finish in get_args(Finish) else "unknown",
        refusal=optional(fields, "refusal", str),
        malformed=optional(fields, "malformed", str),
        decoder=optional(fields, "decoder", str),
        extra=optional(fields, "extra", dict),
        usage=_usage(fields["usage"]) if fields.get("usage") is not None else None,
        seconds=optional_number(fields, "seconds"),
        trail=tuple(as_mapping(message, "a message of `trail`") for message in optional(fields, "trail", list) or ()),
        engine=optional(fields, "engine", dict) or {},
    )


def _raw_call(data: Json) -> RawCall:
    fields = as_mapping(data, "a call of `tool_calls`")
    return RawCall(
        fields.get("name"), fields.get("arguments"), optional(fields, "id", str), optional(fields, "extra", dict)
    )


def _usage(data: Json) -> Usage:
    fields = as_mapping(data, "`usage`")
    return Usage(
        input_tokens=optional(fields, "input_tokens", int),
        output_tokens=optional(fields, "output_tokens", int),
        cached_tokens=optional(fields, "cached_tokens", int),
        reasoning_tokens=optional(fields, "reasoning_tokens", int),
    )


def _given(data: Mapping[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in data.items() if value is not None}

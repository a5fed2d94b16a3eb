"""Calls, as files keep them."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcall.core import Call, Json
from pytest_fcall.tracking.fields import Fields


def call_to_json(call: Call) -> dict[str, Json]:
    """Give a call as what JSON can say; the wire's id of it differs from run to run and is left out."""
    return {"name": call.name, "arguments": call.arguments}


def calls_to_json(calls: Sequence[Call] | None) -> list[Json] | None:
    """Give calls likewise; None stays None."""
    return None if calls is None else [call_to_json(call) for call in calls]


def calls_in(fields: Fields) -> tuple[Call, ...] | None:
    """Read the field `calls`; None where there is none. Anything else is a ValueError that names it."""
    found: Sequence[Json] | None = fields.optional("calls", list)
    return None if found is None else tuple(_call(Fields.of(each, "a call")) for each in found)


def _call(fields: Fields) -> Call:
    return Call(fields.required("name", str), fields.required("arguments", dict))

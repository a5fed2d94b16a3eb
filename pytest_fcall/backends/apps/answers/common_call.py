"""A call in the forms that nearly all have. It is apart from other forms, so that most apps pay for no more."""

from __future__ import annotations

from pytest_fcall.core.reply import Call, RawCall


def common_call(value: object) -> RawCall | None:
    """The call that the value is in the forms that nearly all have, read fast; None for a value in another form."""
    if isinstance(value, dict):
        inner = value.get("function")
        inner = value if inner is None else inner
        if isinstance(inner, dict) and "name" in inner and "arguments" in inner and "role" not in value:
            call_id = value.get("id")
            return RawCall(inner["name"], inner["arguments"], call_id if isinstance(call_id, str) and call_id else None)
    elif isinstance(value, Call):
        return RawCall(value.name, value.arguments, value.id)
    return None

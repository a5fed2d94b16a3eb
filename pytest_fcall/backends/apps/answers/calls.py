"""A call in any of the forms in which APIs and frameworks write one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_fcall.backends.apps.answers.common_call import common_call
from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.values import Fields, fields_of, kind_of, plain
from pytest_fcall.core import RawCall

_NAMES = ("name", "tool_name", "toolName")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "tool_kwargs", "kwargs")
_IDS = ("id", "call_id", "tool_call_id", "toolCallId", "tool_id", "tool_use_id")
_ABOUT = frozenset({*_NAMES, *_IDS, "type", "index", "kind", "extra", "extra_content", "providerExecuted", "dynamic"})
"""The fields that a call without arguments may have. With others it may be anything that has a name."""
_UNDERSTOOD = "a call as {'name': ..., 'arguments': {...}}, or in the form of an API or a framework"


def call_from(value: object, place: str) -> RawCall:
    """The call that the value is. Raises AnswerError."""
    if (call := common_call(value)) is not None:
        return call
    data = value if isinstance(value, dict) else fields_of(value)
    if data is None or not is_call(data):
        raise not_understood(place, f"{value!r:.80}", _UNDERSTOOD)
    inner = _inner(data)
    name: Any = next(inner[key] for key in _NAMES if key in inner)
    arguments: Any = next((inner[key] for key in _ARGUMENTS if key in inner), {})
    call_id: Any = next((data[key] for key in _IDS if isinstance(data.get(key), str) and data[key]), None)
    if inner is value or (isinstance(value, dict) and isinstance(arguments, (dict, str))):
        return RawCall(name, arguments, call_id)
    return RawCall(plain(name), plain(arguments), call_id)


def is_call(data: Fields) -> bool:
    """Whether these are the fields of a call."""
    inner = _inner(data)
    if not any(name in inner for name in _NAMES) or ("description" in inner and "parameters" in inner):
        return False
    return any(name in inner for name in _ARGUMENTS) or all(name in _ABOUT for name in inner)


def _inner(data: Fields) -> Fields:
    """The part that holds name and arguments: the field for the kind of tool, or the call itself."""
    for name in ("function", "custom"):
        if (held := data.get(name)) is not None and not isinstance(held, str):
            inner = held if isinstance(held, dict) else fields_of(held)
            if inner is not None:
                return inner
    return data


def call_list(value: object, place: str) -> tuple[RawCall, ...]:
    """The calls of a message; none where there is nothing, or what a library has for that. Raises AnswerError."""
    if not value:
        return ()
    if not isinstance(value, (list, tuple)):
        raise AnswerError(
            f"the app returned a message whose {place.rpartition('.')[2]} are a {type(value).__name__}, not a list"
        )
    return tuple([call_from(each, inside(place, number)) for number, each in enumerate(value)])


def named_kind(value: object) -> str:
    """The name of a value that is no call, for a message."""
    return f"{value!r:.80}" if not isinstance(value, Mapping) and fields_of(value) is None else kind_of(value)

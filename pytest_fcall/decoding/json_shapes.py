"""Calls in JSON: whole messages of OpenAI and Anthropic, and single calls such as `{"name": …, "arguments": {…}}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.call_collector import CallCollector
from pytest_fcall.decoding.strict_json import NotJson, arguments_from_value, arguments_from_wire
from pytest_fcall.decoding.unreadable import shortened

_SPOKEN = ("text", "output_text", "message")
_THOUGHT = ("thinking", "redacted_thinking", "reasoning")


class MessageParts(NamedTuple):
    """The parts of a message that are to be calls, and the text beside them."""

    calls: Sequence[Json]
    said: str = ""


def message_parts(value: Json) -> MessageParts:
    """Take a message apart; a value that is none is a list of calls, or one call. NotJson says what is wrong."""
    if not isinstance(value, Mapping):
        return _split_parts(value if isinstance(value, list) else [value])
    if "choices" in value:
        return message_parts(_only_choice(value["choices"]).get("message"))
    if value.get("object") == "response":
        return _split_parts(_list_under(value, "output"))
    if "tool_calls" in value:
        return MessageParts(_list_under(value, "tool_calls"), _spoken_text(value))
    if not _is_message(value):
        return MessageParts([value])
    if (legacy := value.get("function_call")) is not None:
        return MessageParts([{"type": "function", "function": legacy}], _spoken_text(value))
    content = value.get("content")
    return _split_parts(content) if isinstance(content, list) else MessageParts((), _spoken_text(value))


def _is_message(value: Mapping[str, Json]) -> bool:
    if value.get("role") == "assistant":
        return True
    return "name" not in value and ("function_call" in value or isinstance(value.get("content"), list))


def _split_parts(items: Sequence[Json]) -> MessageParts:
    """Parts of speech and calls stand in one list."""
    calls = [item for item in items if not _is_speech(item)]
    if len(calls) == len(items):
        return MessageParts(calls)
    return MessageParts(calls, _joined_speech(items))


def _is_speech(item: Json) -> bool:
    return isinstance(item, Mapping) and str(item.get("type")) in _SPOKEN + _THOUGHT and "name" not in item


def _spoken_text(message: Mapping[str, Json]) -> str:
    """What is said in a message, or in a part of one."""
    content = message.get("text", message.get("content"))
    return _joined_speech(content) if isinstance(content, list) else content if isinstance(content, str) else ""


def _joined_speech(parts: Sequence[Json]) -> str:
    spoken = (_spoken_text(part) for part in parts if isinstance(part, Mapping) and part.get("type") in _SPOKEN)
    return " ".join(filter(None, spoken))


def _list_under(message: Mapping[str, Json], key: str) -> Sequence[Json]:
    value = message.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise NotJson(f"its `{key}` is no list")
    return value


def _only_choice(choices: Json) -> Mapping[str, Json]:
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], Mapping):
        raise NotJson("it has not exactly one choice")
    return choices[0]


_NAMES = ("name", "function", "tool", "tool_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "kwargs")
_BESIDE = frozenset({"id", "call_id", "type", "index", "status"})
_CALL_TYPES = frozenset({"function", "function_call", "tool_call", "tool_use"})


def find_calls(value: Json, found: CallCollector) -> None:
    """Read one call, a list of them, or a whole message of OpenAI's or Anthropic's wire that holds them."""
    try:
        message = message_parts(value)
    except NotJson as error:
        found.fault(f"The message cannot be read: {error}.")
        return
    for item in message.calls:
        found.call(partial(read_call, item))
    found.prose(message.said)


def read_call(item: Json) -> tuple[Call, tuple[str, ...]]:
    """Read one call, with notes on it; NotJson says why it is none, or that it could be read in two ways."""
    if not isinstance(item, Mapping):
        raise NotJson("it is not an object with `name` and `arguments`")
    kind = item.get("type", "function")
    if not (isinstance(kind, str) and kind in _CALL_TYPES):
        raise NotJson(f"its `type` is {shortened(str(kind))}")
    function = item.get("function")
    # Wires write the arguments as JSON text; a model that does so in an object of its own encodes once too often.
    as_on_wire = isinstance(function, Mapping) or kind == "function_call"
    if isinstance(function, Mapping):
        _refuse_unknown_keys(item, {"function", *_BESIDE})
        inner = function
    else:
        inner = item
    name, arguments = _name_and_arguments(inner)
    try:
        values, notes = arguments_from_wire(arguments) if as_on_wire else (arguments_from_value(arguments), ())
    except NotJson as error:
        raise NotJson(f"the arguments of {shortened(name)} cannot be read: {error}") from None
    return Call(name, values, _call_id(item)), notes


def _name_and_arguments(item: Mapping[str, Json]) -> tuple[str, Json]:
    named = [key for key in _NAMES if key in item]
    if not named or not isinstance(name := item[named[0]], str) or not name:
        raise NotJson("it has no `name`")
    given = [key for key in _ARGUMENTS if key in item]
    for keys in (named, given):
        if len(keys) > 1:
            raise NotJson(f"{shortened(name)} has both `{keys[0]}` and `{keys[1]}`: it is not clear which one counts")
    _refuse_unknown_keys(item, {*named, *given, *_BESIDE})
    if not given:
        raise NotJson(f"{shortened(name)} has no `arguments`")
    return name, item[given[0]]


def _refuse_unknown_keys(item: Mapping[str, Json], known: set[str]) -> None:
    if strange := [key for key in item if key not in known]:
        raise NotJson(f"beside `name` and `arguments` it has {shortened(strange[0])}")


def _call_id(item: Mapping[str, Json]) -> str | None:
    found = item.get("call_id", item.get("id"))
    return found if isinstance(found, str) else None

"""The shapes of calls in JSON: messages of OpenAI and Anthropic, single calls such as `{"name": …, "arguments": …}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.strict_json import NotJson, arguments_from_value, arguments_from_wire
from pytest_fcall.decoding.unreadable_text import quote_short

_TEXT_TYPES = ("text", "output_text", "message")
_THINKING_TYPES = ("thinking", "redacted_thinking", "reasoning")
_CALL_TYPES = ("function", "function_call", "tool_call", "tool_use")
_NAME_KEYS = ("name", "function", "tool", "tool_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "kwargs")
_OTHER_KEYS = frozenset({"id", "call_id", "type", "index", "status"})


class MessageParts(NamedTuple):
    """The items of a message that should be calls, and the text beside them."""

    calls: Sequence[Json]
    text: str = ""


def message_parts(value: Json) -> MessageParts:
    """Split a message into calls and text; a value that is not a message is one call, or a list of calls.

    Raises NotJson where the message has the wrong shape.
    """
    if not isinstance(value, Mapping):
        return _split_items(value if isinstance(value, list) else [value])
    if "choices" in value:
        return message_parts(_only_choice(value["choices"]).get("message"))
    if value.get("object") == "response":
        return _split_items(_list_field(value, "output"))
    if "tool_calls" in value:
        return MessageParts(_list_field(value, "tool_calls"), _text_of(value))
    if not _is_message(value):
        return MessageParts([value])
    if (legacy := value.get("function_call")) is not None:
        return MessageParts([{"type": "function", "function": legacy}], _text_of(value))
    content = value.get("content")
    return _split_items(content) if isinstance(content, list) else MessageParts((), _text_of(value))


def _is_message(value: Mapping[str, Json]) -> bool:
    if value.get("role") == "assistant":
        return True
    return "name" not in value and ("function_call" in value or isinstance(value.get("content"), list))


def _split_items(items: Sequence[Json]) -> MessageParts:
    calls = [item for item in items if not _is_text_or_thinking(item)]
    return MessageParts(calls) if len(calls) == len(items) else MessageParts(calls, _joined_text(items))


def _is_text_or_thinking(item: Json) -> bool:
    return isinstance(item, Mapping) and str(item.get("type")) in _TEXT_TYPES + _THINKING_TYPES and "name" not in item


def _text_of(message: Mapping[str, Json]) -> str:
    """The text of a message, or of an item of one."""
    content = message.get("text", message.get("content"))
    return _joined_text(content) if isinstance(content, list) else content if isinstance(content, str) else ""


def _joined_text(items: Sequence[Json]) -> str:
    texts = (_text_of(item) for item in items if isinstance(item, Mapping) and item.get("type") in _TEXT_TYPES)
    return " ".join(filter(None, texts))


def _list_field(message: Mapping[str, Json], key: str) -> Sequence[Json]:
    value = message.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise NotJson(f"its `{key}` is not a list")
    return value


def _only_choice(choices: Json) -> Mapping[str, Json]:
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], Mapping):
        raise NotJson("it does not have exactly one choice")
    return choices[0]


def read_call(item: Json) -> tuple[Call, tuple[str, ...]]:
    """Read one call, with notes on what was read leniently. Raises NotJson, also where the call is ambiguous."""
    if not isinstance(item, Mapping):
        raise NotJson("it is not an object with `name` and `arguments`")
    kind = item.get("type", "function")
    if not (isinstance(kind, str) and kind in _CALL_TYPES):
        raise NotJson(f"its `type` is {quote_short(str(kind))}")
    function = item.get("function")
    # APIs write the arguments as JSON text; a model that does so in an object of its own encodes them twice.
    is_api_shape = isinstance(function, Mapping) or kind == "function_call"
    if isinstance(function, Mapping):
        _refuse_unknown_keys(item, {"function", *_OTHER_KEYS})
        name, raw = _name_and_arguments(function)
    else:
        name, raw = _name_and_arguments(item)
    try:
        arguments, notes = arguments_from_wire(raw) if is_api_shape else (arguments_from_value(raw), ())
    except NotJson as error:
        raise NotJson(f"the arguments of {quote_short(name)} cannot be read: {error}") from None
    call_id = item.get("call_id", item.get("id"))
    return Call(name, arguments, call_id if isinstance(call_id, str) else None), notes


def _name_and_arguments(item: Mapping[str, Json]) -> tuple[str, Json]:
    name_keys = [key for key in _NAME_KEYS if key in item]
    if not name_keys or not isinstance(name := item[name_keys[0]], str) or not name:
        raise NotJson("it has no `name`")
    argument_keys = [key for key in _ARGUMENT_KEYS if key in item]
    for keys in (name_keys, argument_keys):
        if len(keys) > 1:
            raise NotJson(f"{quote_short(name)} has both `{keys[0]}` and `{keys[1]}`: it is not clear which one counts")
    _refuse_unknown_keys(item, {*name_keys, *argument_keys, *_OTHER_KEYS})
    if not argument_keys:
        raise NotJson(f"{quote_short(name)} has no `arguments`")
    return name, item[argument_keys[0]]


def _refuse_unknown_keys(item: Mapping[str, Json], known: set[str]) -> None:
    if unknown := [key for key in item if key not in known]:
        raise NotJson(f"beside `name` and `arguments` it has {quote_short(unknown[0])}")

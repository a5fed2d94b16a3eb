"""Whole messages of OpenAI's and Anthropic's wires, as JSON: where the calls are in them, and what was said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pytest_fcall.core.values import Json
from pytest_fcall.decoding.strict_json import NotJson

_SPOKEN = ("text", "output_text", "message")
_THOUGHT = ("thinking", "redacted_thinking", "reasoning")


class Message(NamedTuple):
    """The parts of a message that are to be calls, and the text beside them."""

    calls: Sequence[Json]
    said: str = ""


def as_message(value: Json) -> Message:
    """Take a message apart; a value that is none is a list of calls, or one call. NotJson says what is wrong."""
    if not isinstance(value, Mapping):
        return _parts(value if isinstance(value, list) else [value])
    if "choices" in value:
        return as_message(_only(value["choices"]).get("message"))
    if value.get("object") == "response":
        return _parts(_list(value, "output"))
    if "tool_calls" in value:
        return Message(_list(value, "tool_calls"), _text(value))
    if not _is_message(value):
        return Message([value])
    if (legacy := value.get("function_call")) is not None:
        return Message([{"type": "function", "function": legacy}], _text(value))
    content = value.get("content")
    return _parts(content) if isinstance(content, list) else Message((), _text(value))


def _is_message(value: Mapping[str, Json]) -> bool:
    if value.get("role") == "assistant":
        return True
    return "name" not in value and ("function_call" in value or isinstance(value.get("content"), list))


def _parts(items: Sequence[Json]) -> Message:
    """Parts of speech and calls stand in one list."""
    calls = [item for item in items if not _is_speech(item)]
    if len(calls) == len(items):
        return Message(calls)
    return Message(calls, _joined(items))


def _is_speech(item: Json) -> bool:
    return isinstance(item, Mapping) and str(item.get("type")) in _SPOKEN + _THOUGHT and "name" not in item


def _text(message: Mapping[str, Json]) -> str:
    """What is said in a message, or in a part of one."""
    content = message.get("text", message.get("content"))
    return _joined(content) if isinstance(content, list) else content if isinstance(content, str) else ""


def _joined(parts: Sequence[Json]) -> str:
    spoken = (_text(part) for part in parts if isinstance(part, Mapping) and part.get("type") in _SPOKEN)
    return " ".join(filter(None, spoken))


def _list(message: Mapping[str, Json], key: str) -> Sequence[Json]:
    value = message.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise NotJson(f"its `{key}` is no list")
    return value


def _only(choices: Json) -> Mapping[str, Json]:
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], Mapping):
        raise NotJson("it has not exactly one choice")
    return choices[0]

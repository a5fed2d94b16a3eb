"""Records with secrets and personal data masked."""

from __future__ import annotations

import json
from dataclasses import replace

from pytest_fcall.core import Json, Message
from pytest_fcall.traces.masking import Masker
from pytest_fcall.traces.record import Record
from pytest_fcall.traces.values import items, mapping, read_json


def masked(record: Record, masker: Masker) -> Record:
    """The record with everything masked that was said, called, given back and expected."""
    trail = tuple(_message(message, masker) for message in record.trail)
    checks = None if record.checks is None else mapping(masker.value(record.checks))
    return replace(record, trail=trail, checks=checks)


def _message(message: Message, masker: Masker) -> Message:
    told = dict(message)
    if message["role"] == "tool":
        told["content"] = _text(str(message["content"]), masker)
    elif "content" in message:
        told["content"] = masker.value(message["content"])
    if "tool_calls" in message:
        told["tool_calls"] = [_call(call, masker) for call in items(message["tool_calls"])]
    return told


def _call(call: Json, masker: Masker) -> Json:
    function = mapping(mapping(call).get("function"))
    arguments = function.get("arguments")
    said = _text(arguments, masker) if isinstance(arguments, str) else masker.value(arguments)
    return {**mapping(call), "function": {**function, "arguments": said}}


def _text(text: str, masker: Masker) -> str:
    """A text that may be JSON: masked by its values, since an escape hides where one begins."""
    try:
        value = read_json(text)
    except ValueError:
        return masker.text(text)
    changed = masker.value(value)
    return text if changed == value else json.dumps(changed, ensure_ascii=False)

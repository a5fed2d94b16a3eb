"""API-BLEND's SeqATIS and SeqSNIPS: `[{"API": "flight", "Parameters": {"city": ["Oslo"]}}]`, where values are lists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

from pytest_fcall.core.reply import Call, Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.call_collector import CallCollector, ReadCall
from pytest_fcall.decoding.json_calls import json_value_in
from pytest_fcall.decoding.strict_json import NotJson, arguments_from_value
from pytest_fcall.decoding.text_parts import split_thinking
from pytest_fcall.decoding.unreadable import shortened

_KEY = re.compile(r"""["']API["']""")


def decode(text: str, _tools: Sequence[Tool] = ()) -> Calls:
    """Read the calls; text that is not JSON and has no key `API` is prose."""
    collector = CallCollector()
    try:
        value = json_value_in(text, collector)
    except NotJson as error:
        return Calls(malformed=f"The text is not JSON: {error}." if _KEY.search(split_thinking(text)[1]) else None)
    if isinstance(value, Mapping) and "APIs" in value:
        value = value["APIs"]
    for item in value if isinstance(value, list) else [value]:
        collector.add_call(partial(_read, item))
    return collector.result()


def _read(item: Json) -> ReadCall:
    if not isinstance(item, Mapping) or not isinstance(name := item.get("API"), str) or not name:
        raise NotJson("it is not an object with `API` and `Parameters`")
    if unknown := [key for key in item if key not in {"API", "Parameters"}]:
        raise NotJson(f"beside `API` and `Parameters` it has {shortened(unknown[0])}")
    if "Parameters" not in item:
        raise NotJson(f"{shortened(name)} has no `Parameters`")
    try:
        return Call(name, arguments_from_value(item["Parameters"])), ()
    except NotJson as error:
        raise NotJson(f"the parameters of {shortened(name)} cannot be read: {error}") from None

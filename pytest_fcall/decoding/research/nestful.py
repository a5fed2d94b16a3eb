"""NESTFUL: a list of calls with labels, `$var_1`, and references to the results of earlier ones, `$var_1.result$`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pytest_fcall.core.reply import Call, Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.call_collector import CallCollector, ReadCall
from pytest_fcall.decoding.json_calls import json_value_in
from pytest_fcall.decoding.strict_json import NotJson, arguments_from_value
from pytest_fcall.decoding.text_parts import split_thinking
from pytest_fcall.decoding.unreadable import shortened

_KEY = re.compile(r"""["']arguments["']""")
_KEYS = frozenset({"name", "label", "arguments"})


def decode(text: str, _tools: Sequence[Tool] = ()) -> Calls:
    """Read the calls. References get the number of the call in place of its label: `$1.result$`."""
    collector = CallCollector()
    try:
        value = json_value_in(text, collector)
    except NotJson as error:
        return Calls(malformed=f"The text is not JSON: {error}." if _KEY.search(split_thinking(text)[1]) else None)
    items = value if isinstance(value, list) else [value]
    labels = [item.get("label") if isinstance(item, Mapping) else None for item in items]
    numbers = {label.strip("$"): str(n) for n, label in enumerate(labels, 1) if isinstance(label, str) and label}
    for item in items:
        collector.add_call(partial(_read, item, numbers))
    return collector.result()


def _read(item: Json, numbers: Mapping[str, str]) -> ReadCall:
    if not isinstance(item, Mapping) or not isinstance(name := item.get("name"), str) or not name:
        raise NotJson("it is not an object with `name` and `arguments`")
    if unknown := [key for key in item if key not in _KEYS]:
        raise NotJson(f"beside `name`, `label` and `arguments` it has {shortened(unknown[0])}")
    try:
        arguments = arguments_from_value(item.get("arguments"))
    except NotJson as error:
        raise NotJson(f"the arguments of {shortened(name)} cannot be read: {error}") from None
    return Call(name, {key: with_references(value, numbers) for key, value in arguments.items()}), ()


def with_references(value: Any, names: Mapping[str, str]) -> Any:
    """Return a value with the names of labels in references, also in a list of them; one label after the other."""
    for label, name in names.items():
        if isinstance(value, str):
            value = _replaced(value, label, name)
        elif isinstance(value, list):
            value = [_replaced(item, label, name) if isinstance(item, str) else item for item in value]
    return value


def _replaced(text: str, label: str, name: str) -> str:
    refers = text.startswith("$var") and "." in text and text.split(".", 1)[0].replace("$", "") == label
    return text.replace(label, name) if refers else text

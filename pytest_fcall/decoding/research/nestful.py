"""NESTFUL: a list of calls with labels, `$var_1`, and references to the results of earlier ones, `$var_1.result$`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pytest_fcall.core.reply import Call, Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.json_calls import json_value_in
from pytest_fcall.decoding.model_text import CallCollector, ReadCall, split_thinking
from pytest_fcall.decoding.strict_json import NotJson, arguments_from_value
from pytest_fcall.decoding.unreadable_text import quote_short

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
    references = LabelReferences(
        {label.strip("$"): str(number) for number, label in enumerate(labels, 1) if isinstance(label, str)}
    )
    for item in items:
        collector.add_call(partial(_read, item, references))
    return collector.result()


def _read(item: Json, references: LabelReferences) -> ReadCall:
    if not isinstance(item, Mapping) or not isinstance(name := item.get("name"), str) or not name:
        raise NotJson("it is not an object with `name` and `arguments`")
    if unknown := [key for key in item if key not in _KEYS]:
        raise NotJson(f"beside `name`, `label` and `arguments` it has {quote_short(unknown[0])}")
    try:
        arguments = arguments_from_value(item.get("arguments"))
    except NotJson as error:
        raise NotJson(f"the arguments of {quote_short(name)} cannot be read: {error}") from None
    return Call(name, {key: references.named(value) for key, value in arguments.items()}), ()


class LabelReferences:
    """Puts names in place of the labels of calls."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self._places = {label: place for place, label in enumerate(names)}

    def named(self, value: Any) -> Any:
        """Return a value with the names of labels in a reference, also in a list of them."""
        if isinstance(value, list):
            return [self._named_text(item) if isinstance(item, str) else item for item in value]
        return self._named_text(value) if isinstance(value, str) else value

    def _named_text(self, text: str) -> str:
        """The text, with one label after the other replaced in their order: a name may look like a later one."""
        place = -1
        while text.startswith("$var") and "." in text:
            label = text.split(".", 1)[0].replace("$", "")
            if self._places.get(label, -1) <= place:
                break
            place = self._places[label]
            text = text.replace(label, self._names[label])
        return text

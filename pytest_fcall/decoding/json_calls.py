"""Text that is JSON and nothing else: a list of `{"name": …, "arguments": {…}}`, or one such object.

Models bound by a grammar answer so. An empty list says that no call is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.core.call import Call, Calls
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.arguments import from_text
from pytest_fcall.decoding.strict_json import NotJson, parse
from pytest_fcall.decoding.wording import shortened, told


def decode(text: str, tools: Sequence[Tool] = ()) -> Calls:  # noqa: ARG001  the shape of every decoder
    """Read the calls; text that says anything else is malformed."""
    try:
        value, notes = parse(text)
    except NotJson as error:
        return Calls(malformed=f"The text is not JSON: {error}.")
    items = value if isinstance(value, list) else [value]
    calls: list[Call] = []
    faults: list[str] = []
    for number, item in enumerate(items, 1):
        try:
            calls.append(_call(item))
        except NotJson as error:
            faults.append(f"Call {number}: {error}.")
    return Calls(tuple(calls), told(faults), notes)


def _call(item: Json) -> Call:
    if not isinstance(item, Mapping):
        raise NotJson("it is not an object with `name` and `arguments`")
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise NotJson("it has no `name`")
    if strange := [key for key in item if key not in ("name", "arguments")]:
        raise NotJson(f"beside `name` and `arguments` it has {shortened(strange[0])}")
    if "arguments" not in item:
        raise NotJson(f"{shortened(name)} has no `arguments`")
    try:
        return Call(name, from_text(item["arguments"]))
    except NotJson as error:
        raise NotJson(f"the arguments of {shortened(name)} cannot be read: {error}") from None

"""Calls in the shapes in which JSON has them: `{"name": …, "arguments": {…}}` and its relatives."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pytest_fcall.core.call import Call
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.arguments import from_text, from_wire
from pytest_fcall.decoding.gathering import Gathering
from pytest_fcall.decoding.messages import as_message
from pytest_fcall.decoding.strict_json import NotJson
from pytest_fcall.decoding.wording import shortened

_NAMES = ("name", "function", "tool", "tool_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "kwargs")
_BESIDE = frozenset({"id", "call_id", "type", "index", "status"})
_CALL_TYPES = frozenset({"function", "function_call", "tool_call", "tool_use"})


def find_calls(value: Json, found: Gathering) -> None:
    """Read one call, a list of them, or a whole message of OpenAI's or Anthropic's wire that holds them."""
    try:
        message = as_message(value)
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
        _refuse_strange(item, {"function", *_BESIDE})
        inner = function
    else:
        inner = item
    name, arguments = _pair(inner)
    try:
        values, notes = from_wire(arguments) if as_on_wire else (from_text(arguments), ())
    except NotJson as error:
        raise NotJson(f"the arguments of {shortened(name)} cannot be read: {error}") from None
    return Call(name, values, _id(item)), notes


def _pair(item: Mapping[str, Json]) -> tuple[str, Json]:
    named = [key for key in _NAMES if key in item]
    if not named or not isinstance(name := item[named[0]], str) or not name:
        raise NotJson("it has no `name`")
    given = [key for key in _ARGUMENTS if key in item]
    for keys in (named, given):
        if len(keys) > 1:
            raise NotJson(f"{shortened(name)} has both `{keys[0]}` and `{keys[1]}`: it is not clear which one counts")
    _refuse_strange(item, {*named, *given, *_BESIDE})
    if not given:
        raise NotJson(f"{shortened(name)} has no `arguments`")
    return name, item[given[0]]


def _refuse_strange(item: Mapping[str, Json], known: set[str]) -> None:
    if strange := [key for key in item if key not in known]:
        raise NotJson(f"beside `name` and `arguments` it has {shortened(strange[0])}")


def _id(item: Mapping[str, Json]) -> str | None:
    found = item.get("call_id", item.get("id"))
    return found if isinstance(found, str) else None

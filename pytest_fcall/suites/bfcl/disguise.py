"""Questions in disguise: functions under other names, in another order and other words, with the same right answers.

A model that has seen the published questions, and not learnt to answer such ones, is worse at them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Final

from pytest_fcall.core.values import Json
from pytest_fcall.schema.tool_names import other_names, with_other_names
from pytest_fcall.suites.bfcl.categories import DISGUISED
from pytest_fcall.suites.json_files import objects_field, string_field

_OF_FUNCTION: Final = "Purpose: "
_OF_PARAMETER: Final = "Meaning: "


def disguise_row(data: Mapping[str, Json]) -> dict[str, Json]:
    """Return a row of a category with ground truths of calls, in disguise. The same row always has the same one.

    Raises BrokenRow for a function without a name.
    """
    id_ = string_field(data, "id")
    functions = objects_field(data, "function")
    names = other_names([string_field(each, "name") for each in functions])
    renamed = partial(with_other_names, names=names)
    order = partial(_in_other_order, key=id_)
    return {
        **data,
        "id": DISGUISED + id_,
        "function": order([_function(each, names, renamed, order) for each in functions], name=_name_of),
        "question": _each_text(data.get("question"), renamed),
        "ground_truth": [
            {names.get(name, name): arguments for name, arguments in call.items()}
            for call in objects_field(data, "ground_truth")
        ],
    }


def _each_text(value: Json, change: Callable[[str], str]) -> Json:
    """Messages, or turns of them, with the text of each changed."""
    if isinstance(value, Mapping):
        content = value.get("content")
        return {**value, "content": change(content)} if isinstance(content, str) else value
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_each_text(each, change) for each in value]
    return value


def _function(
    function: Mapping[str, Json], names: Mapping[str, str], renamed: Callable[[str], str], order: Callable[..., Any]
) -> dict[str, Json]:
    changed = dict(_schema(function.get("parameters"), renamed, order))
    described = _OF_FUNCTION + renamed(str(function.get("description", "")))
    return {**function, "name": names[string_field(function, "name")], "description": described, "parameters": changed}


def _schema(schema: Json, renamed: Callable[[str], str], order: Callable[..., Any]) -> Mapping[str, Json]:
    """A schema whose parameters and values to choose from are in another order, and described in other words."""
    if not isinstance(schema, Mapping):
        return {}
    changed = dict(schema)
    if isinstance(properties := schema.get("properties"), Mapping):
        inner = {name: _parameter(each, renamed, order) for name, each in properties.items()}
        changed["properties"] = dict(order([*inner.items()], name=lambda item: item[0]))
    if isinstance(items := schema.get("items"), Mapping):
        changed["items"] = _schema(items, renamed, order)
    if isinstance(values := schema.get("enum"), Sequence) and not isinstance(values, str):
        changed["enum"] = order(values, name=repr)
    return changed


def _parameter(schema: Json, renamed: Callable[[str], str], order: Callable[..., Any]) -> Json:
    if not isinstance(schema, Mapping):
        return schema
    changed = _schema(schema, renamed, order)
    described = schema.get("description")
    return {**changed, "description": _OF_PARAMETER + renamed(described)} if isinstance(described, str) else changed


def _in_other_order(values: Iterable[Any], *, key: str, name: Callable[[Any], str]) -> list[Any]:
    """The values in an order that depends on the key and on their names, and is not the one that they have."""
    before = list(values)
    after = sorted(before, key=lambda value: sha256(f"{key}\n{name(value)}".encode("utf-8", "surrogatepass")).digest())
    return [*after[1:], *after[:1]] if after == before else after


def _name_of(function: Mapping[str, Json]) -> str:
    return str(function.get("name"))

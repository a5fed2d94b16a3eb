"""The edits between two lists of tools: descriptions by sentence, parameters by what their schemas say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias, TypeVar

from pytest_fcall.bisection.edit import Choice, Chosen, Edit, EditList, between, text_choice, whole_choice
from pytest_fcall.core.digests import canonical, same_json
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json

_DEEPEST: Final = 12
"""Schemas below this depth are one edit."""
_ABSENT: Final = object()
Tools: TypeAlias = tuple[Tool, ...]
Schema: TypeAlias = Mapping[str, Json]
_T = TypeVar("_T")


class _Name(NamedTuple):
    """The name of a tool today, or before where it is gone."""

    name: str
    is_gone: bool = False


def tool_choice(edits: EditList, old: Tools, new: Tools, where: str = "") -> Choice[Tools]:
    """Add the edits between two lists of tools. `where` is said before each place."""
    first = len(edits)
    names = [[tool.name for tool in side] for side in (old, new)]
    if any(len({*each}) < len(each) for each in names):  # two of one name: nothing says which is which
        return whole_choice(edits, Edit(f"{where}tools", _listed(names[0]), _listed(names[1]), "tool"), old, new)
    former = _former_names(old, new)
    by_name = {tool.name: tool for tool in old}
    today = {before: now for now, before in former.items()}
    orders = [_Name(today.get(name, name), name not in today) for name in names[0]], [*map(_Name, names[1])]
    choices: dict[_Name, Choice[Tool | None]] = {}
    for tool in new:
        choices[_Name(tool.name)] = _one_tool(edits, by_name.get(former.get(tool.name, "")), tool, where)
    for tool in old:
        if tool.name not in today:
            choices[_Name(tool.name, is_gone=True)] = _one_tool(edits, tool, None, where)
    order = _order_choice(edits, *orders, where)

    def mixed(chosen: Chosen) -> Tools:
        made = (choices[name](chosen) for name in order(chosen))
        return tuple(tool for tool in made if tool is not None)

    return between(old, new, range(first, len(edits)), mixed) if len(edits) > first else lambda _: new


def _former_names(old: Tools, new: Tools) -> dict[str, str]:
    """The tools that both sides have, by today's names: of the same name, or the same but for the name."""
    before = {tool.name for tool in old}
    found = {tool.name: tool.name for tool in new if tool.name in before}
    gone = {_content(tool): tool.name for tool in reversed(old) if tool.name not in found}
    for tool in new:
        if tool.name not in found and (name := gone.pop(_content(tool), None)) is not None:
            found[tool.name] = name
    return found


def _content(tool: Tool) -> str:
    return canonical([tool.description, tool.parameters, tool.returns])


def _order_choice(edits: EditList, old: Sequence[_Name], new: Sequence[_Name], where: str) -> Choice[Sequence[_Name]]:
    """The order of all names, in which those of one side alone come behind their neighbour there."""
    both = [[name for name in side if name in {*old} & {*new}] for side in (old, new)]
    by_old, by_new = _merged(old, new), _merged(new, old)
    if both[0] == both[1]:
        return lambda _: by_old
    before, after = (_listed(each.name for each in side) for side in both)
    return whole_choice(edits, Edit(f"{where}order of the tools", before, after, "tool"), by_old, by_new)


def _merged(base: Sequence[_T], other: Sequence[_T]) -> list[_T]:
    """All names, in the order of `base`; the others behind their neighbour in `other`."""
    merged = [*base]
    behind = -1
    for name in other:
        if name in base:
            behind = merged.index(name)
        else:
            behind += 1
            merged.insert(behind, name)
    return merged


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _one_tool(edits: EditList, old: Tool | None, new: Tool | None, where: str) -> Choice[Tool | None]:
    tool = new or old
    place = f"{where}tool {tool.name if tool else ''}"
    if old is None or new is None:
        return whole_choice(edits, Edit(place, _shown_tool(old), _shown_tool(new), "tool"), old, new)
    first = len(edits)
    name = old.name
    if old.name != new.name:
        edits.add(Edit(f"{place}: name", old.name, new.name, "tool"))
    description = text_choice(edits, old.description, new.description, f"{place}: description", "tool")
    parameters = _schema_choice(edits, old.parameters, new.parameters, place, "", 0)
    returns: Choice[Mapping[str, Json] | None] = lambda _: new.returns  # noqa: E731
    if not same_json(old.returns, new.returns):
        edit = Edit(f"{place}: returns", canonical(old.returns), canonical(new.returns), "tool")
        returns = whole_choice(edits, edit, old.returns, new.returns)
    if first == len(edits) and not same_json(old.parameters, new.parameters):  # such as another order of `required`
        edit = Edit(f"{place}: parameters", canonical(old.parameters), canonical(new.parameters), "tool")
        edits.add(edit)
    if first == len(edits):
        return lambda _: new

    def mixed(chosen: Chosen) -> Tool:
        schema = parameters(chosen)
        declared = next((each.declared for each in (new, old) if same_json(each.parameters, schema)), None)
        return replace(
            new,
            name=new.name if name == new.name or first in chosen else name,
            description=description(chosen),
            parameters=schema,
            declared=declared,
            returns=returns(chosen),
        )

    return between(old, new, range(first, len(edits)), mixed)


def _shown_tool(tool: Tool | None) -> str:
    return "" if tool is None else f"{tool.name}: {tool.description}"


def _schema_choice(edits: EditList, old: Schema, new: Schema, tool: str, path: str, depth: int) -> Choice[Schema]:
    """Add the edits between two schemas of objects; `path` names the parameter that they belong to."""
    place = f"{tool}: parameter {path}" if path else f"{tool}: parameters"
    first = len(edits)
    choices: dict[str, Choice[object]] = {}
    come: dict[str, int] = {}
    gone: dict[str, int] = {}
    for key in dict.fromkeys((*new, *old)):
        one, other = old.get(key, _ABSENT), new.get(key, _ABSENT)
        if key == "required" and _is_names(one) and _is_names(other):
            continue
        if one is not _ABSENT and other is not _ABSENT and same_json(old[key], new[key]):
            choices[key] = _always(new[key])
        elif key == "properties" and isinstance(one, Mapping) and isinstance(other, Mapping):
            choices[key] = _properties_choice(edits, one, other, tool, path, depth, come, gone)
        elif key == "items" and isinstance(one, Mapping) and isinstance(other, Mapping) and depth < _DEEPEST:
            choices[key] = _schema_choice(edits, one, other, tool, f"{path}[]", depth + 1)
        else:
            edit = Edit(f"{place}: {key}", _shown_value(one), _shown_value(other), "tool")
            choices[key] = whole_choice(edits, edit, one, other)
    if "required" not in choices and ("required" in old or "required" in new):
        choices["required"] = _required_choice(edits, old, new, tool, path, come, gone)

    def mixed(chosen: Chosen) -> Schema:
        found = {key: choice(chosen) for key, choice in choices.items()}
        return {key: value for key, value in found.items() if value is not _ABSENT}  # type: ignore[misc]  # Json

    return between(old, new, range(first, len(edits)), mixed) if len(edits) > first else lambda _: new


def _always(value: Json) -> Choice[object]:
    return lambda _: value


def _is_names(value: object) -> bool:
    return value is _ABSENT or (isinstance(value, list | tuple) and all(isinstance(each, str) for each in value))


def _shown_value(value: object) -> str:
    return "" if value is _ABSENT else value if isinstance(value, str) else canonical(value)  # type: ignore[arg-type]


def _properties_choice(
    edits: EditList,
    old: Schema,
    new: Schema,
    tool: str,
    path: str,
    depth: int,
    come: dict[str, int],
    gone: dict[str, int],
) -> Choice[object]:
    """Add the edits between parameters, and note in `come` and `gone` those that only one side has."""
    choices: dict[str, Choice[object]] = {}
    for name in _merged([*new], [*old]):
        inner = f"{path}.{name}" if path else name
        one, other = old.get(name, _ABSENT), new.get(name, _ABSENT)
        edit = Edit(f"{tool}: parameter {inner}", _shown_value(one), _shown_value(other), "tool")
        if one is _ABSENT or other is _ABSENT:
            (come if one is _ABSENT else gone)[name] = len(edits)
            choices[name] = whole_choice(edits, edit, one, other)
        elif same_json(old[name], new[name]):
            choices[name] = _always(new[name])
        elif isinstance(one, Mapping) and isinstance(other, Mapping) and depth < _DEEPEST:
            choices[name] = _schema_choice(edits, one, other, tool, inner, depth + 1)
        else:
            choices[name] = whole_choice(edits, edit, one, other)

    def mixed(chosen: Chosen) -> object:
        found = {name: choice(chosen) for name, choice in choices.items()}
        return {name: value for name, value in found.items() if value is not _ABSENT}

    return mixed


def _required_choice(
    edits: EditList,
    old: Schema,
    new: Schema,
    tool: str,
    path: str,
    come: Mapping[str, int],
    gone: Mapping[str, int],
) -> Choice[object]:
    """Whether a parameter is required: an edit, unless the parameter itself has come or gone."""
    sides = [_names(side.get("required")) for side in (old, new)]
    switches: dict[str, int | None] = {}
    for name in _merged(sides[1], sides[0]):
        if (name in sides[0]) == (name in sides[1]):
            switches[name] = None
        elif name in come or name in gone:
            switches[name] = come.get(name, gone.get(name))
        else:
            inner = f"{path}.{name}" if path else name
            was, is_now = (("required" if name in side else "optional") for side in sides)
            switches[name] = edits.add(Edit(f"{tool}: parameter {inner}: required", was, is_now, "tool"))
    had_list = "required" in old

    def mixed(chosen: Chosen) -> object:
        found = [name for name, place in switches.items() if name in sides[place is None or place in chosen]]
        return found if found or had_list else _ABSENT

    return mixed


def _names(value: Json) -> list[str]:
    return list(dict.fromkeys(map(str, value))) if isinstance(value, list | tuple) else []

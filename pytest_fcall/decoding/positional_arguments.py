"""Positional arguments of a call, named after the parameters of the tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.unreadable import Unreadable, shortened

_MOST_NAMED = 5


def tools_by_name(tools: Sequence[Tool]) -> Mapping[str, Tool]:
    """The tools by their names."""
    return {tool.name: tool for tool in tools}


def named_arguments(
    name: str, positional: Sequence[Json], named: Mapping[str, Json], tools: Mapping[str, Tool]
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Give all arguments of a call by name, in the order of writing, and a note where some were positional.

    Positional arguments take the names of the tool's parameters, in the order of its schema. Raises Unreadable where
    the tool is unknown, has too few parameters, or gets an argument twice.
    """
    if not positional:
        return dict(named), ()
    names = _parameter_names(name, len(positional), tools)
    if repeated := next((each for each in names if each in named), None):
        raise Unreadable(f"the argument {shortened(repeated)} of {shortened(name)} is given by position and by name")
    shown = ", ".join(f"`{each}`" for each in names[:_MOST_NAMED]) + (" …" if len(names) > _MOST_NAMED else "")
    note = f"Positional arguments of {shortened(name)} were read as {shown}."
    return dict(zip(names, positional, strict=True)) | dict(named), (note,)


def _parameter_names(name: str, count: int, tools: Mapping[str, Tool]) -> tuple[str, ...]:
    if (tool := tools.get(name)) is None:
        why = "which was not offered" if tools else "whose signature is not known"
        raise Unreadable(f"positional arguments of {shortened(name)}, {why}, have no names")
    properties = tool.parameters.get("properties")
    names = tuple(properties) if isinstance(properties, Mapping) else ()
    if count > len(names):
        raise Unreadable(f"{shortened(name)} takes {len(names)} arguments, but {count} were given by position")
    return names[:count]

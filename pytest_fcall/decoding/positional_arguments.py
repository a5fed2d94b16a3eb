"""Arguments given by position, under the names that the tool has for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.unreadable import Unreadable, shortened


def tools_by_name(tools: Sequence[Tool]) -> Mapping[str, Tool]:
    """The tools by their names."""
    return {tool.name: tool for tool in tools}


def parameter_names(name: str, count: int, tools: Mapping[str, Tool]) -> tuple[str, ...]:
    """Give the names of the first `count` arguments of a tool, in the order of its signature.

    Raises Unreadable where nobody knows them.
    """
    if not count:
        return ()
    if (tool := tools.get(name)) is None:
        why = "which was not offered" if tools else "whose signature is not known"
        raise Unreadable(f"positional arguments of {shortened(name)}, {why}, have no names")
    properties = tool.parameters.get("properties")
    names = tuple(properties) if isinstance(properties, Mapping) else ()
    if count > len(names):
        raise Unreadable(f"{shortened(name)} takes {len(names)} arguments, but {count} were given by position")
    return names[:count]


def named_arguments(
    name: str, positional: Sequence[Json], named: Mapping[str, Json], tools: Mapping[str, Tool]
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Give all arguments of a call by name, in the order of writing, and a note where some were positional."""
    positions = parameter_names(name, len(positional), tools)
    if twice := next((each for each in positions if each in named), None):
        raise Unreadable(f"the argument {shortened(twice)} of {shortened(name)} is given by position and by name")
    arguments = dict(zip(positions, positional, strict=True)) | dict(named)
    return arguments, positions and (_positional_note(name, positions),)


def _positional_note(name: str, positions: Sequence[str]) -> str:
    named = ", ".join(f"`{each}`" for each in positions[:_MOST_NAMED]) + (" …" if len(positions) > _MOST_NAMED else "")
    return f"Positional arguments of {shortened(name)} were read as {named}."


_MOST_NAMED = 5

"""Relations that give tools and parameters other names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.request import Tool
from pytest_fcall.core.variants import Dice, Unfit, WantedRelation
from pytest_fcall.schema.other_names import other_names, words_of
from pytest_fcall.variants.case_parts import all_tools, hidden_expectation, is_system, texts_of
from pytest_fcall.variants.names import Names

_PLAIN: Final = frozenset(
    {"type", "properties", "required", "additionalProperties", "title", "description", "$defs", "definitions"}
)
"""Keys of parameters in which a name is at most a property, or required."""


def tool_names(case: Case, _: Dice, __: WantedRelation) -> Case | Unfit:
    """Give tools other names."""
    found = new_tool_names(case)
    return found if isinstance(found, Unfit) else found.case(case)


def parameter_names(case: Case, _: Dice, __: WantedRelation) -> Case | Unfit:
    """Give parameters other names."""
    found = new_parameter_names(case)
    return found if isinstance(found, Unfit) else found.case(case)


def new_tool_names(case: Case) -> Names | Unfit:
    """The new names of the tools that nobody speaks of by name."""
    if unfit := _why_not(case):
        return unfit
    tools = all_tools(case)
    said, told = " ".join(_said(case)), " ".join(_told(case))
    free = [name for name in tools if not _is_in(name, said) and (len(words_of(name)) > 1 or not _is_in(name, told))]
    if not free:
        return Unfit("its messages name its tools" if tools else "it has no tool")
    return Names(other_names(free, taken=tools))


def new_parameter_names(case: Case) -> Names | Unfit:
    """The new names of the parameters whose names nobody uses as words."""
    if unfit := _why_not(case):
        return unfit
    said = " ".join((*_said(case), *_told(case)))
    found: dict[str, Mapping[str, str]] = {}
    for name, tool in all_tools(case).items():
        free = [parameter for parameter in _plain_parameters(tool) if not _is_in(parameter, said)]
        if free:
            found[name] = other_names(free, "given", _plain_parameters(tool))
    return Names(parameters=found) if found else Unfit("its messages name its parameters, or it has none")


def _why_not(case: Case) -> Unfit | None:
    if case.conversation is not None and case.conversation.environment:
        return Unfit("an environment carries out its calls by name")
    if case.earlier is not None:
        return Unfit("conversations before it have its tools, too")
    return hidden_expectation(case)


def _said(case: Case) -> Iterator[str]:
    """What the user and the model say, and what tools gave."""
    for turn in case.turns:
        for message in turn.messages:
            if not is_system(message):
                yield from texts_of(message.get("content"))


def _told(case: Case) -> Iterator[str]:
    """What the developer says."""
    for turn in case.turns:
        for message in turn.messages:
            if is_system(message):
                yield from texts_of(message.get("content"))


def _is_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _plain_parameters(tool: Tool) -> list[str]:
    """The parameters of a tool whose schema says nothing else of them than what they are."""
    properties = tool.parameters.get("properties")
    return [*properties] if isinstance(properties, Mapping) and _PLAIN.issuperset(tool.parameters) else []

"""Relations that change which tools are offered, and in which order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.request import Tool
from pytest_fcall.core.variants import Dice, Unfit, WantedRelation
from pytest_fcall.schema.other_names import words_of
from pytest_fcall.variants.case_parts import all_tools, user_texts, with_tools
from pytest_fcall.variants.catalogue import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_fcall.core.values import Json

USUAL_DISTRACTORS: Final = 5
_LEAST_WORD: Final = 4
"""Shorter words say nothing about what a tool is for."""


def tool_order(case: Case, dice: Dice, _: WantedRelation) -> Case | Unfit:
    """Offer the tools in another order."""
    if not any(len(tools) > 1 for tools in _sets(case)):
        return Unfit("it has no second tool")

    def reordered(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        order = tuple(dice.order(tools))
        return (*order[1:], order[0]) if order == tools and len(tools) > 1 else order

    return with_tools(case, reordered)


def distractors(case: Case, dice: Dice, wanted: WantedRelation) -> Case | Unfit:
    """Offer more tools, in places among the others."""
    if any(turn.expect is not None and turn.expect.kind == "any_call" for turn in case.turns):
        return Unfit("any call is right")
    own = all_tools(case)
    found = [tool for tool in (CATALOGUE if wanted.tools is None else wanted.tools) if tool.name not in own]
    if wanted.tools is None:  # nobody has said that these have nothing to do with this case
        found = [tool for tool in found if not _is_about(tool, case)]
    if not found:
        return Unfit("there is no further tool")
    count = wanted.options.get("tools", USUAL_DISTRACTORS)
    most = count if isinstance(count, int) else USUAL_DISTRACTORS
    chosen = dice.order(found)
    if wanted.options.get("near"):
        words = _words([text for tool in own.values() for text in (tool.name, tool.description)])
        chosen.sort(key=lambda tool: -len(words & _words([tool.name, tool.description])))

    def mixed(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        result = list(tools)
        for tool in chosen[:most]:
            result.insert(dice.below(len(result) + 1), tool)
        return tuple(result)

    return with_tools(case, mixed)


def optional_parameters(case: Case, dice: Dice, _: WantedRelation) -> Case | Unfit:
    """Give each tool an optional parameter that no question needs."""
    extended = [tool for tool in all_tools(case).values() if _takes_more(tool)]
    if not extended:
        return Unfit("no tool has a plain list of parameters")

    def with_parameter(tool: Tool) -> Tool:
        name, schema = _ADDED[dice.below(len(_ADDED))]
        properties = tool.parameters.get("properties")
        if not _takes_more(tool) or not isinstance(properties, dict) or name in properties:
            return tool
        return replace(tool, parameters={**tool.parameters, "properties": {**properties, name: schema}}, declared=None)

    return with_tools(case, lambda tools: tuple(map(with_parameter, tools)))


_ADDED: Final[Sequence[tuple[str, dict[str, Json]]]] = (
    ("trace_label", {"type": "string", "description": "A label for the operator's log. Leave it out in normal use."}),
    ("dry_run_only", {"type": "boolean", "description": "For maintenance only: check the call and do nothing."}),
    ("client_version", {"type": "string", "description": "For internal tests. Never needed."}),
)
_PLAIN: Final = frozenset({"type", "properties", "required", "additionalProperties", "title", "description", "$defs"})


def _takes_more(tool: Tool) -> bool:
    """Whether the parameters of a tool are a plain list, to which another can be added."""
    return isinstance(tool.parameters.get("properties"), dict) and _PLAIN.issuperset(tool.parameters)


def _sets(case: Case) -> list[tuple[Tool, ...]]:
    return [case.tools, *(turn.tools for turn in case.turns if turn.tools is not None)]


def _is_about(tool: Tool, case: Case) -> bool:
    """Whether a tool shares a word with what the user says, or with a tool of the case."""
    said = _words([*user_texts(case), *all_tools(case)])
    return not said.isdisjoint(_words([tool.name]))


def _words(texts: Sequence[str]) -> set[str]:
    found = {word.casefold() for text in texts for part in text.split() for word in words_of(part)}
    return {word for word in found if len(word) >= _LEAST_WORD}

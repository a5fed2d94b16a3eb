"""Relations that change which tools are offered, in which order, and how they are described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.core.variants import Dice, Unfit, WantedRelation
from pytest_fcall.schema.tool_names import words_of
from pytest_fcall.variants.case_parts import all_tools, user_texts, with_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

_USUAL_DISTRACTORS: Final = 5
_LEAST_WORD: Final = 4
"""Shorter words say nothing about what a tool is for."""
_OF_TOOL: Final = (
    "Purpose: {}",
    "What this is for: {}",
    "Function of this tool: {}",
    "{} (This is what the tool does.)",
)
_OF_PARAMETER: Final = ("Meaning: {}", "What to give here: {}", "Stands for: {}", "{} (as a parameter)")
_INNER: Final = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
"""Keys whose values are schemas by name."""
_SCHEMAS: Final = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")

_Describe = Callable[[str], str | None]


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
    count = wanted.options.get("tools", _USUAL_DISTRACTORS)
    most = count if isinstance(count, int) else _USUAL_DISTRACTORS
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


def descriptions(case: Case, dice: Dice, _: WantedRelation) -> Case | Unfit:
    """Say the same of tools and parameters in other words."""
    tool, parameter = dice.one(_OF_TOOL), dice.one(_OF_PARAMETER)
    return _described(case, tool.format, parameter.format)


def no_descriptions(case: Case, _: Dice, __: WantedRelation) -> Case | Unfit:
    """Say nothing of tools and parameters but their names and types."""
    return _described(case, lambda _: None, lambda _: None)


def _described(case: Case, of_tool: _Describe, of_parameter: _Describe) -> Case | Unfit:
    if not any(_is_described(tool) for tool in all_tools(case).values()):
        return Unfit("no tool is described" if case.tools else "it has no tool")

    def change(tool: Tool) -> Tool:
        description = of_tool(tool.description) if tool.description else ""
        schema = _schema(tool.parameters, of_parameter)
        return replace(tool, description=description or "", parameters=schema)

    return with_tools(case, lambda tools: tuple(map(change, tools)))


def _is_described(tool: Tool) -> bool:
    return bool(tool.description) or _schema(tool.parameters, lambda _: None) != tool.parameters


def _schema(schema: Mapping[str, Json], describe: _Describe) -> dict[str, Json]:
    """A schema with each description in it changed, or left out. Properties of the name `description` stay."""
    changed = dict(schema)
    if isinstance(text := schema.get("description"), str) and text:
        new = describe(text)
        if new is None:
            del changed["description"]
        else:
            changed["description"] = new
    for key in _INNER:
        if isinstance(named := schema.get(key), Mapping):
            changed[key] = {name: _inner(each, describe) for name, each in named.items()}
    for key in _SCHEMAS:
        if key in schema:
            changed[key] = _inner(schema[key], describe)
    for key in _LISTS:
        if isinstance(members := schema.get(key), list | tuple):
            changed[key] = [_inner(each, describe) for each in members]
    return changed


def _inner(schema: Json, describe: _Describe) -> Json:
    return _schema(schema, describe) if isinstance(schema, Mapping) else schema


def _tool(name: str, description: str, **parameters: str) -> Tool:
    properties: Mapping[str, Mapping[str, str]] = {key: _parameter(text) for key, text in parameters.items()}
    return Tool(name, description, {"type": "object", "properties": properties, "required": [*properties]})


def _parameter(text: str) -> Mapping[str, str]:
    kind, _, description = text.partition(": ")
    return {"type": kind, "description": description}


CATALOGUE: Final[tuple[Tool, ...]] = (
    _tool("tune_piano", "Book a piano tuner.", piano="string: Its make.", floor="integer: The floor."),
    _tool("roman_numeral", "Write a number as a Roman numeral.", number="integer: The number."),
    _tool("tide_table", "Look up high and low tide at a harbour.", harbour="string: The harbour."),
    _tool("moon_phase", "Tell the phase of the moon on a night.", night="string: The night, as YYYY-MM-DD."),
    _tool("knitting_gauge", "Work out knitting stitches.", yarn="string: The yarn.", width="number: In cm."),
    _tool("beehive_log", "Write into the log of a beehive.", hive="string: The hive.", entry="string: The entry."),
    _tool("resistor_code", "Read the colour bands of a resistor.", bands="string: The colours, joined by dashes."),
    _tool("star_chart", "Draw the stars above a place.", latitude="number: Degrees.", longitude="number: Degrees."),
    _tool("compost_ratio", "Balance matter in compost.", green="number: Litres.", brown="number: Litres."),
    _tool("chess_opening", "Name the opening of a chess game.", moves="string: The moves, in algebraic notation."),
    _tool("morse_encode", "Encode letters as Morse signals.", letters="string: The letters."),
    _tool("bell_pattern", "Compose a pattern for change ringing.", bells="integer: The number of bells."),
    _tool("soil_acidity", "Estimate the acidity of soil from plants on it.", plants="string: The plants."),
    _tool("crystal_system", "Name the crystal system of a mineral.", mineral="string: The mineral."),
    _tool("fern_spores", "Tell when the spores of a fern ripen.", species="string: The species."),
    _tool("kite_bridle", "Compute the bridle of a kite.", span="number: In cm.", keel="number: In cm."),
    _tool("glaze_recipe", "Compute a ceramic glaze.", cone="integer: The firing cone.", base="string: The base."),
    _tool("sundial_angle", "Compute the angles of a sundial.", latitude="number: Degrees north."),
    _tool("saw_setting", "Advise on the set of a saw blade.", teeth="integer: Teeth per inch.", wood="string: Wood."),
    _tool("lichen_survey", "File a sighting of lichen.", species="string: The species.", site="string: The place."),
)
"""Each has a trade of its own, so that no ordinary question could be meant for it."""

"""Tools that few questions have anything to do with, to be offered beside those of a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_fcall.core.request import Tool


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

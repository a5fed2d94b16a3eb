"""Cases that are read from YAML and measured."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.core import Case
from pytest_fcall.matching.context import MatchContexts
from pytest_fcall.strength.case_strength import CaseStrength, strength_of

TOOLS = """
tools:
  - name: get_weather
    parameters:
      type: object
      properties: {city: {type: string}, unit: {enum: [celsius, fahrenheit]}, days: {type: integer, default: 1}}
      required: [city]
  - name: set_alarm
    parameters: {type: object, properties: {time: {type: string}}, required: [time]}
  - name: pay
    parameters:
      type: object
      properties:
        amount: {type: number}
        to: {type: string}
        key: {type: string}
        items: {type: array, items: {type: string}}
        address: {type: object, properties: {street: {type: string}, zip: {type: string}}}
      required: [amount, to]
"""


def read_cases(text: str, tools: str = TOOLS) -> list[Case]:
    """The cases of a file with some tools. `text` is what follows them, or only the case's own keys."""
    body = dedent(text)
    if "cases:" not in body:
        body = "cases:\n  - id: one\n    prompt: Weather in Oslo on 2026-11-21 for Ana?\n" + indent(body, "    ")
    file = read_case_text(f"{tools}{body}", Path("a.fc.yaml"), root=Path())
    assert not file.faults, file.faults
    return [entry for entry in file.entries if isinstance(entry, Case)]


def measure(text: str, tools: str = TOOLS) -> CaseStrength:
    """The strength of the first case."""
    return strength_of(read_cases(text, tools)[0], {}, MatchContexts())


def survivors(found: CaseStrength) -> set[str]:
    """What passes, as `mistake at place`."""
    return {f"{each.mutant.mistake} at {each.mutant.place}" for each in found.survivors}

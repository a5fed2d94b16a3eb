"""Cases for relations, and the verdicts on answers to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.core import Call, Calls, Case, Json, Reply, Verdict
from pytest_fcall.core.variants import Dice, Unfit, WantedRelation
from pytest_fcall.matching.context import MatchContexts
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.variants.relations.table import BUILT_IN

TOOLS = """
tools:
  - name: get_weather
    description: Current weather of a city. See also list_cities.
    parameters:
      type: object
      properties:
        city: {type: string, description: The city's English name.}
        unit: {type: string, enum: [celsius, fahrenheit], default: celsius}
        start_day: {type: string, format: date, description: "The first day."}
        days: {type: integer}
      required: [city]
  - name: list_cities
    description: Cities of a country.
    parameters: {type: object, properties: {country: {type: string}}, required: [country]}
  - name: remove
    description: Remove a city from the list.
    parameters: {type: object, properties: {city: {type: string}}, required: [city]}
"""


def case_of(text: str, preamble: str = "") -> Case:
    """The case that this YAML says, beside the three tools."""
    cases = "cases:\n  - id: it\n" + indent(text.strip("\n"), "    ")
    found = read_case_text(f"{TOOLS}{preamble}\n{cases}\n", Path("/p/cases/a.fc.yaml"), root=Path("/p"))
    assert not found.faults, [fault.message for fault in found.faults]
    (entry,) = found.entries
    assert isinstance(entry, Case)
    return entry


def varied(relation: str, case: Case, number: int = 0, wanted: WantedRelation | None = None) -> Case:
    """A variant of the case, where there is one."""
    found = BUILT_IN[relation].vary(case, Dice(case.id, relation, number), wanted or WantedRelation(relation))
    assert isinstance(found, Case), found
    return found


def unmeasured_reason(relation: str, case: Case, wanted: WantedRelation | None = None) -> str:
    """Why the relation makes no variant of the case."""
    found = BUILT_IN[relation].vary(case, Dice(case.id, relation), wanted or WantedRelation(relation))
    assert isinstance(found, Unfit)
    return found.reason


def prompt_of(case: Case) -> str:
    return str(case.turns[-1].messages[-1]["content"])


def verdict(case: Case, calls: Sequence[tuple[str, Mapping[str, Json]]]) -> Verdict:
    """The verdict on these calls."""
    context = MatchContexts().of(case.tools, case.rules, {})
    made = Calls(tuple(Call(name, arguments) for name, arguments in calls))
    return judge_turn(Reply(""), made, case.turns[0], context)

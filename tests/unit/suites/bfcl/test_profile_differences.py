from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.bfcl.cases import BfclCase
from pytest_fcall.suites.bfcl.profile_differences import profile_difference
from tests.unit.suites.bfcl import rows
from tests.unit.suites.bfcl.rows import case, decoded, fc, forecast, prompt, scored

OSLO = case(forecast(city=["Oslo"], days=[1], unit=["celsius", ""], heights=[[1.5, 2.0], ""]))
NOTHING = case(category="irrelevance")
ANYTHING = case(category="live_relevance")
SUM = case({"sum": {"numbers": [[1, 2]]}}, functions=[rows.SUM])
STATUS = case(
    {"list": {"status": ["all", ""]}},
    functions=[
        {
            "name": "list",
            "parameters": {
                "type": "dict",
                "properties": {"status": {"type": "string", "enum": ["open"]}},
                "required": [],
            },
        }
    ],
)
SUMS = case({"sum": {"numbers": [[1, 2], [3, 4]]}}, {"sum": {"numbers": [[1, 2]]}}, category="parallel")


JAVA = case(
    {"Store.list": {"from": [5], "name": ["mainStore"]}},
    category="simple_java",
    functions=[
        {
            "name": "Store.list",
            "parameters": {
                "type": "dict",
                "properties": {"from": {"type": "long"}, "name": {"type": "String"}},
                "required": ["from", "name"],
            },
        }
    ],
)
TITLE = case(
    {"find": {"title": [""]}},
    functions=[
        {"name": "find", "parameters": {"type": "dict", "properties": {"title": {"type": "string"}}, "required": []}}
    ],
)

NAMED: list[tuple[BfclCase, dict[str, Json], str | None]] = [
    (OSLO, decoded(forecast(city="Oslo", days=1)), None),
    (OSLO, decoded(forecast(city="Rome", days=1)), None),
    (OSLO, prompt("```json\n[weather.forecast(city='Oslo', days=1)]\n```"), "undecodable_but_readable"),
    (SUM, prompt("[sum([1, 2])]"), "positional_dropped"),
    (OSLO, prompt("[weather.forecast(city='Oslo', days=+1)]"), "literal_misread"),
    (SUM, decoded({"sum": {"numbers": {"__tuple__": [1, 2]}}}), "literal_misread"),
    (OSLO, fc(("weather.forecast", {"city": "Oslo", "days": 1})), "dotted_name"),
    (OSLO, decoded(forecast(city="Oslo")), "default_left_out"),
    (case(forecast(city=["Oslo"])), decoded(forecast(city="Oslo", days=1)), "default_spelled_out"),
    (STATUS, decoded({"list": {"status": None}}), "null_for_nothing"),
    (
        case(forecast(city=["Oslo"], heights=[[1.5, 2.0]])),
        decoded(forecast(city="Oslo", heights=[1.5, 2])),
        "int_for_float_in_list",
    ),
    (OSLO, decoded(forecast(city="Ｏｓｌｏ", days=1)), "spelling"),
    (SUMS, decoded({"sum": {"numbers": [1, 2]}}, {"sum": {"numbers": [3, 4]}}), "greedy_only_failure"),
    (NOTHING, prompt("[sum(numbers=[1, 2]"), "malformed_abstention"),
    (NOTHING, prompt("```python\n[sum(numbers=[1])]\n```"), "call_in_abstention"),
    (ANYTHING, decoded({"product": {}}), "unknown_tool"),
    (ANYTHING, decoded({"sum": {"numbers": ["1"]}}), "type"),
    (OSLO, decoded(forecast(city="Oslo", days=1, unit="Celsius")), "schema"),
    (OSLO, decoded(forecast(city="O.s.l.o", days=1)), "punctuation_only"),
    (OSLO, decoded(forecast(city="Oslo", days=1, heights=[])), "empty_for_nothing"),
    (OSLO, prompt("[weather.forecast(city='Oslo', days=1, days=1)]"), "malformed"),
    (JAVA, decoded({"Store.list": {"from": "5L", "name": "mainstore"}}), "case_only"),
    (JAVA, decoded({"Store.list": {"from": "5", "name": "mainStore"}}), "source_literal"),
    (TITLE, decoded({"find": {"title": " "}}), "value"),
]


@pytest.mark.parametrize(("judged", "answer", "why"), NAMED)
def test_a_difference_has_a_name(judged: BfclCase, answer: dict[str, Json], why: str | None) -> None:
    assert profile_difference(judged, scored(judged, answer)) == why


def test_each_name_is_explained() -> None:
    page = Path(__file__).parents[4] / "docs/explanation/profiles.md"
    explained = re.findall(
        r"^\| `(\w+)` \| (?:`strict`|`bfcl`|either) \|", page.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert set(explained) == {why for _, _, why in NAMED if why is not None}

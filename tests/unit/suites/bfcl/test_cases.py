from __future__ import annotations

import pytest

from pytest_fcall.core import Json, Language, Location, Message
from pytest_fcall.suites.bfcl.cases import case_of, language_of
from pytest_fcall.suites.json_files import BrokenRow
from tests.unit.suites.bfcl.rows import SUM, WEATHER, case_row, forecast

PLACE = Location("cases.jsonl", 7)


def test_a_row_becomes_a_case_and_an_exam() -> None:
    row = case_row(forecast(city=["Oslo"]))
    found = case_of(row, PLACE)
    assert (found.case.id, found.case.category, found.case.location) == ("simple_python_0", "simple_python", PLACE)
    assert [tool.name for tool in found.case.tools] == ["weather.forecast", "sum"]
    assert found.case.turns[0].messages == ({"role": "user", "content": "Weather in Oslo?"},)
    assert found.case.turns[0].expect is found.expect
    assert (found.official_case.category, found.official_case.language) == ("simple_python", "python")
    assert found.official_case.functions == [WEATHER, SUM]
    assert found.official_case.truth == [forecast(city=["Oslo"])]


@pytest.mark.parametrize(
    ("category", "language", "strings"),
    [
        ("simple_python", "python", "relaxed"),
        ("live_parallel_multiple", "python", "relaxed"),
        ("simple_java", "java", "exact"),
        ("simple_javascript", "javascript", "exact"),
        ("javascript_irrelevance", "python", "relaxed"),
    ],
)
def test_the_category_tells_the_language(category: str, language: Language, strings: str) -> None:
    assert language_of(category) == language
    rules = case_of(case_row(category=category), PLACE).case.rules
    assert (rules.language, rules.strings) == (language, strings)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("category", 3, "`category` must be a string"),
        ("id", None, "`id` must be a string"),
        ("question", 3, "`question` must be a list of turns"),
        ("question", [["Weather?"]], "`question` must be a list of turns"),
        ("function", {"name": "f"}, "`function` must be a list of objects"),
        ("function", [{"description": "no name", "parameters": {}}], "`name`"),
        ("ground_truth", [3], "`ground_truth` must be a list of objects"),
        ("ground_truth", [{"f": 3}], "the ground truth needs an object of arguments for 'f'"),
    ],
)
def test_a_row_that_is_no_case_is_broken(field: str, value: Json, why: str) -> None:
    with pytest.raises(BrokenRow, match=why):
        case_of({**case_row(forecast(city=["Oslo"])), field: value}, PLACE)


@pytest.mark.parametrize("field", ["category", "id", "function", "ground_truth"])
def test_a_row_that_lacks_a_field_is_broken(field: str) -> None:
    row = case_row(forecast(city=["Oslo"]))
    del row[field]
    with pytest.raises(BrokenRow, match=f"missing `{field}`"):
        case_of(row, PLACE)


@pytest.mark.parametrize(
    ("question", "messages"),
    [
        (None, ()),
        ([], ()),
        ([[]], ()),
        ("Rain?", ({"role": "user", "content": "Rain?"},)),
        ([[{"role": "system", "content": "Be brief."}], [{}]], ({"role": "system", "content": "Be brief."},)),
    ],
)
def test_the_first_turn_is_what_is_asked(question: Json, messages: tuple[Message, ...]) -> None:
    row = {**case_row(forecast(city=["Oslo"])), "question": question}
    assert case_of(row, PLACE).case.turns[0].messages == messages
